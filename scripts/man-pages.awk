# The program of scripts/man-pages. It reads everything first, so that each text can refer to any page, and then writes.
#
# A page is numbered. Of page p: page_names[p], the functions or the type; page_synopsis[p], page_text[p], page_fields[p], lines of mdoc;
# page_section[p], the heading of the header that it is below. A heading is numbered, too: headings[h].

function trim(text) { gsub(/[ \t]+/, " ", text); sub(/^ /, "", text); sub(/ $/, "", text); return text }

#-- text of comments to mdoc -------------------------------------------------------------------------------------------

# Characters that mean something to the formatter, and rules, which are no matter of these pages.
function plain(text) {
    gsub(/ \(R[0-9]+[R0-9, \342\200\223-]*\)/, "", text)
    gsub(/\\/, "\\e", text)
    gsub(/\342\200\223/, "\\(en", text)
    gsub(/\342\200\224/, "\\(em", text)
    gsub(/\342\200\246/, "...", text)
    return text
}

# The same with code in italics, functions in bold with their section, and each sentence on a line of its own.
function prose(text, done, word, name) {
    text = plain(text)
    done = ""
    while (match(text, /`[^`]*`|runloop_[a-z0-9_]+(\(\))?/)) {
        word = substr(text, RSTART, RLENGTH)
        name = word
        gsub(/[`()]/, "", name)
        if (name in page_of && is_function[name] && substr(text, RSTART + RLENGTH, 1) != "(") word = "\\fB" name "\\fR(3)"
        else if (word ~ /^`/) word = "\\fI" substr(word, 2, length(word) - 2) "\\fR"
        done = done substr(text, 1, RSTART - 1) word
        text = substr(text, RSTART + RLENGTH)
    }
    text = done text
    done = ""
    while (match(text, /[.?][)]? +[A-Z\\-]/)) {
        done = done substr(text, 1, RSTART + RLENGTH - 2)
        sub(/ +$/, "", done)
        done = done "\n"
        text = substr(text, RSTART + RLENGTH - 1)
    }
    text = done text
    gsub(/\n[.]/, "\n\\\\\\&.", text)
    gsub(/\n'/, "\n\\\\\\&'", text)
    sub(/^[.']/, "\\\\\\&&", text)
    return text "\n"
}

# An argument of a macro: one word, which is no macro itself.
function quoted(text) { text = plain(text); gsub(/"/, "\\(dq", text); return "\"" text "\"" }

# What a page is about: the first sentence, or what of it stands before a list of details.
function summary(text, end) {
    text = plain(text)
    end = match(text, /[.;:]( |$)/)
    if (end > 0 && end < 20 && substr(text, end, 1) != ".") end += match(substr(text, end + 1), /[.;:]( |$)/)
    if (end) text = substr(text, 1, end - 1)
    if (length(text) > 100 && match(text, /[,(]/) > 30) text = substr(text, 1, RSTART - 1)
    if (text ~ /\([^)]*$/) sub(/ *\([^)]*$/, "", text)
    gsub(/`/, "", text)
    if (text ~ /^[A-Z][a-z ]/) text = tolower(substr(text, 1, 1)) substr(text, 2)
    return trim(text)
}

#-- reading ------------------------------------------------------------------------------------------------------------

FNR == 1 {
    in_header = FILENAME ~ /\.h$/
    in_head = in_header
    file = FILENAME
    sub(/.*\//, "", file)
    if (in_header) { files[++file_count] = file; file_heading[file_count] = ++heading_count; headings[heading_count] = file }
    comment = ""
    page = 0
}

# The sample in C of the README.
!in_header {
    if ($0 == "## In C") in_c = 1
    else if (in_c && $0 == "```c") in_sample = 1
    else if (in_sample && $0 == "```") in_c = in_sample = 0
    else if (in_sample) { line = $0; gsub(/\\/, "\\e", line); sub(/^[.']/, "\\\\\\&&", line); sample = sample line "\n" }
    next
}

# The comment that heads a file: paragraphs and a list.
in_head && /^\/\// {
    line = substr($0, 3)
    if (FNR == 1) sub(/^ [a-z_-]+\.h \342\200\224 /, "", line)
    if (line ~ /^ *$/) head[file] = head[file] "\001"
    else if (line ~ /^  - /) head[file] = head[file] "\002" trim(substr(line, 5))
    else head[file] = head[file] (head[file] ~ /[\001\002]$|^$/ ? "" : " ") trim(line)
    next
}
in_head { in_head = 0 }

/^\/\/===--/ {
    line = $0
    gsub(/^\/\/===-- |[ -]*-===\/\/$/, "", line)
    headings[++heading_count] = line
    comment = ""
    page = 0
    next
}

# In a structure or an enumeration.
in_body && /^}/ { end_type(); next }
in_body { member($0); next }

/^\/\/\// {
    if (declared) { comment = ""; page = 0; declared = 0 }
    comment = comment (comment == "" ? "" : " ") trim(substr($0, 4))
    next
}
/^$/ { comment = ""; page = 0; declared = 0; next }

/^#define RUNLOOP_[A-Z_]+ / && comment != "" {
    declared = 1
    constants[++constant_count] = $2
    constant_text[constant_count] = comment == last_constant_comment ? "" : comment
    last_constant_comment = comment
    next
}
/^[#}]|^extern "C"|^\/\/|^RUNLOOP_SET/ { next }

# A declaration, perhaps on several lines.
{
    text = text " " $0
    if ($0 ~ /\{$/) begin_type()
    else if ($0 ~ /;( *\/\/.*)?$/) declaration()
}

function new_page(name, description) {
    page_names[++page_count] = name
    page_text[page_count] = description
    page_section[page_count] = heading_count
    page_of[name] = page_count
    return page_count
}

function declaration(name, result, arguments, i, depth, character, argument, lines) {
    declared = 1
    sub(/;.*/, "", text)
    gsub(/RUNLOOP_(EXPORT|SENDABLE|CLOSED)/, "", text)
    text = trim(text)
    if (text ~ /^typedef /) {
        name = text
        if (text ~ /\(\*/) { sub(/.*\(\* ?/, "", name); sub(/\).*/, "", name) } else sub(/.*[ *]/, "", name)
        # A loop itself is what section 7 is about, and man would show section 3 first.
        if (comment != "" && name != main) {
            page = new_page(name, comment)
            page_synopsis[page] = ".Bd -literal\n" text ";\n.Ed\n"
            page = 0
        }
        text = ""
        return
    }
    match(text, /runloop_[a-z0-9_]+\(/)
    name = substr(text, RSTART, RLENGTH - 1)
    result = trim(substr(text, 1, RSTART - 1))
    arguments = substr(text, RSTART + RLENGTH, length(text) - RSTART - RLENGTH)
    lines = ".Ft " quoted(result) "\n.Fo " name "\n"
    depth = 0
    argument = ""
    for (i = 1; i <= length(arguments) + 1; i++) {
        character = substr(arguments, i, 1)
        if (i > length(arguments) || (character == "," && depth == 0)) { lines = lines ".Fa " quoted(trim(argument)) "\n"; argument = "" }
        else { depth += (character == "(") - (character == ")"); argument = argument character }
    }
    # A paragraph that says "the same" says nothing without the one before.
    if (!page && last_function_page && comment ~ /^The same /) { page = last_function_page; page_text[page] = page_text[page] "\001" comment }
    if (!page) page = new_page(name, comment)
    else { page_names[page] = page_names[page] " " name; page_of[name] = page }
    is_function[name] = 1
    last_function_page = page
    page_synopsis[page] = page_synopsis[page] lines ".Fc\n"
    text = ""
}

function begin_type() {
    in_body = 1
    fields = pending = group_text = field = ""
    # An enumeration without a name has the values of the type that was declared before it.
    type_name = text
    gsub(/RUNLOOP_CLOSED /, "", type_name)
    # A set is an enumeration for some compilers, and a number of that name for others.
    is_set = sub(/RUNLOOP_FLAGS\(/, "", type_name)
    if (is_set) sub(/\)/, "", type_name)
    sub(/ *\{$/, "", type_name)
    type_definition = type_name ~ /typedef/ ? "typedef " : ""
    type_kind = type_name ~ /enum/ ? "enum" : "struct"
    sub(/.*(enum|struct) ?/, "", type_name)
    text = ""
}

# A line between the braces.
function member(line, after) {
    if (line ~ /^ *\/\/\/</ && field == "") { group_text = group_text " " trim(substr(line, index(line, "///<") + 4)); return }
    if (line ~ /^ *\/\/\//) { if (field == "" && !pending_open) end_group(); pending_open = 1; pending = pending " " trim(substr(line, index(line, "///") + 3)); return }
    if (line ~ /^ *(#.*|\/\/.*)?$/) { end_group(); return }
    if (pending_open) { group_text = pending; pending = ""; pending_open = grouped = 0 }
    after = ""
    if (index(line, "///<")) { after = trim(substr(line, index(line, "///<") + 4)); line = substr(line, 1, index(line, "///<") - 1) }
    field = trim(field " " line)
    if (type_kind == "struct" && field !~ /;$/) { held = held " " after; return }
    sub(/[;,]$/, "", field)
    gsub(/RUNLOOP_SENDABLE /, "", field)
    after = trim(held " " after)
    held = ""
    # With a text of its own it is no part of the group above.
    if (after != "" && grouped) end_group()
    fields = fields "\003" field "\004"
    field = ""
    grouped = 1
    if (after != "") { group_text = trim(group_text " " after); end_group() }
}

function end_group() {
    if (group_text != "") fields = fields trim(group_text)
    group_text = ""
    grouped = 0
}

function end_type(p) {
    end_group()
    in_body = 0
    p = type_name in page_of ? page_of[type_name] : 0
    if (type_name == "") p = page_count
    if (!p) p = new_page(type_name, comment)
    if (type_name != "") page_synopsis[p] = ".Bd -literal\n" (is_set ? "typedef uint32_t " : type_definition type_kind " ") type_name (type_definition == "" ? "" : " " type_name) ";\n.Ed\n"
    page_fields[p] = fields
    page = 0
    declared = 1
}

#-- writing ------------------------------------------------------------------------------------------------------------

function paragraphs(text, count, parts, i, written) {
    count = split(text, parts, "\001")
    for (i = 1; i <= count; i++) if (parts[i] != "") written = written (written == "" ? "" : ".Pp\n") prose(parts[i])
    return written
}

function begin_page(path, name, section) {
    printf ".Dd %s\n.Dt %s %s\n.Os \"runloop %s\"\n.nh\n.Sh NAME\n", date, toupper(name), section, version > path
}

function library() { return ".Sh LIBRARY\nlib" package " (pkg-config " package ", \\-l" package ")\n" }

function field_list(text, count, items, i, parts, written) {
    count = split(text, items, "\003")
    written = ".Bl -tag -width Ds\n"
    for (i = 2; i <= count; i++) {
        split(items[i], parts, "\004")
        written = written ".It Vt " quoted(parts[1]) "\n" (parts[2] == "" ? "" : prose(parts[2]))
    }
    return written ".El\n"
}

# References to the pages below the same heading, and to the types that the synopsis names.
function see_also(p, q, names, wanted, count, i, j, list, name, others) {
    for (q = 1; q <= page_count; q++) {
        split(page_names[q], names, " ")
        name = names[1]
        if (q != p && (page_section[q] == page_section[p] || index(page_synopsis[p], name " ") || index(page_synopsis[p], name "\""))) list[++count] = name
    }
    for (i = 2; i <= count; i++)
        for (j = i; j > 1 && list[j] < list[j - 1]; j--) { name = list[j]; list[j] = list[j - 1]; list[j - 1] = name }
    for (i = 1; i <= count; i++) others = others ".Xr " list[i] " 3 ,\n"
    return ".Sh SEE ALSO\n" others ".Xr runloop 7" (main == "runloop" ? "" : " ,\n.Xr " main " 7") "\n"
}

function write_page(p, names, count, i, path) {
    count = split(page_names[p], names, " ")
    path = folder "/man3/" names[1] ".3"
    begin_page(path, names[1], 3)
    for (i = 1; i <= count; i++) print ".Nm " names[i] (i < count ? " ," : "") > path
    print ".Nd " quoted(summary(page_text[p])) > path
    printf "%s.Sh SYNOPSIS\n.In %s.h\n%s.Sh DESCRIPTION\n%s", library(), main, page_synopsis[p], paragraphs(page_text[p]) > path
    if (page_fields[p] != "") printf "%s", field_list(page_fields[p]) > path
    printf "%s", see_also(p) > path
    close(path)
    for (i = 2; i <= count; i++) print names[i], names[1] # For the links.
}

# The comment that heads a file.
function write_head(path, text, count, parts, items, i, j, total) {
    count = split(text, parts, "\001")
    for (i = 1; i <= count; i++) {
        total = split(parts[i], items, "\002")
        if (trim(items[1]) != "") printf "%s%s", (i > 1 ? ".Pp\n" : ""), prose(trim(items[1])) > path
        if (total > 1) print ".Bl -bullet" > path
        for (j = 2; j <= total; j++) printf ".It\n%s", prose(trim(items[j])) > path
        if (total > 1) print ".El" > path
    }
}

function write_overview(path, f, h, p, i, names, shown) {
    path = folder "/man7/" main ".7"
    begin_page(path, main, 7)
    printf ".Nm %s\n.Nd %s\n.Sh SYNOPSIS\n.In %s.h\n.Pp\n.Dl cc program.c $(pkg-config --cflags --libs %s)\n.Sh DESCRIPTION\n", main,
        quoted(summary(head[main ".h"])), main, package > path
    if (main == "runloop")
        printf "%s.Pp\n", prose("A run loop is a thread's way of waiting for several kinds of things at once, and of calling the program for one of them at a " \
            "time: descriptors, timers, tasks that other threads enqueue, signalled sources. Each thread has one, created when it first asks for it. What is " \
            "added belongs to modes, and a run serves one mode; runs nest, and observers are notified of each step of a run.") > path
    text = head[main ".h"]
    sub(/ R36 and the like are rules of docs\/RULES\.md\./, "", text)
    write_head(path, toupper(substr(text, 1, 1)) substr(text, 2))
    for (f = 2; f <= file_count; f++) {
        printf ".Ss %s\n", headings[file_heading[f]] > path
        write_head(path, toupper(substr(head[files[f]], 1, 1)) substr(head[files[f]], 2))
    }
    print ".Sh FUNCTIONS AND TYPES" > path
    for (h = 1; h <= heading_count; h++) {
        shown = 0
        for (p = 1; p <= page_count; p++) {
            if (page_section[p] != h) continue
            if (!shown++) printf ".Ss %s\n.Bl -tag -width Ds\n", plain(headings[h]) > path
            split(page_names[p], names, " ")
            printf ".It Xr %s 3\n%s", names[1], prose(summary(page_text[p])) > path
        }
        if (shown) print ".El" > path
    }
    if (constant_count) print ".Sh CONSTANTS\n.Bl -tag -width Ds" > path
    for (i = 1; i <= constant_count; i++) printf ".It Dv %s\n%s", constants[i], (constant_text[i] == "" ? "" : prose(constant_text[i])) > path
    if (constant_count) print ".El" > path
    if (main == "runloop") printf ".Sh EXAMPLES\nA timer that fires three times, and then stops the run:\n.Bd -literal\n%s.Ed\n", sample > path
    else print ".Sh SEE ALSO\n.Xr runloop 7" > path
    close(path)
}

END {
    for (p = 1; p <= page_count; p++) write_page(p)
    write_overview()
}
