# The program of Tools/scripts/man-pages. It reads everything first, so that each text can refer to any page, and then writes. What a comment
# lacks it tells on standard error.
#
# A page is numbered. Of page p: page_names[p], the functions or the type; page_synopsis[p] and page_fields[p], lines of mdoc;
# page_text[p], page_returns[p], page_errors[p], what the comment says; page_section[p], the heading of the header that it is below. A
# heading is numbered, too: headings[h], heading_text[h]. In texts \001 separates paragraphs, and \002 begins an item of a list.

function trim(text) { gsub(/[ \t]+/, " ", text); sub(/^ /, "", text); sub(/ $/, "", text); return text }
function capital(text) { return toupper(substr(text, 1, 1)) substr(text, 2) }
function fault(text) { print file ": " text > "/dev/stderr" }

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

# A line that begins like a request is none.
function guarded(text) {
    gsub(/\n[.]/, "\n\\\\\\&.", text)
    gsub(/\n'/, "\n\\\\\\&'", text)
    sub(/^[.']/, "\\\\\\&&", text)
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
    return guarded(done text) "\n"
}

# An argument of a macro: one word, which is no macro itself.
function quoted(text) { text = plain(text); gsub(/"/, "\\(dq", text); return "\"" text "\"" }

# What a page is about, as mandb reads it: without quotes around it.
function title(text) { gsub(/"/, "\\(dq", text); return text }

# The first sentence, or what of it stands before a list of details.
function summary(text, end) {
    text = plain(text)
    end = match(text, /[.;:]( |$)/)
    if (end > 0 && end < 20 && substr(text, end, 1) != ".") end += match(substr(text, end + 1), /[.;:]( |$)/)
    if (end) text = substr(text, 1, end - 1)
    if (length(text) > 100 && match(substr(text, 31), /[,(]/)) text = substr(text, 1, 29 + RSTART)
    if (text ~ /\([^)]*$/) sub(/ *\([^)]*$/, "", text)
    gsub(/`/, "", text)
    if (text ~ /^[A-Z][a-z ]/) text = tolower(substr(text, 1, 1)) substr(text, 2)
    return trim(text)
}

function paragraphs(text, count, parts, items, i, j, total, written) {
    count = split(text, parts, "\001")
    for (i = 1; i <= count; i++) {
        total = split(parts[i], items, "\002")
        if (trim(items[1]) != "") written = written (written == "" ? "" : ".Pp\n") prose(trim(items[1]))
        if (total > 1) written = written ".Bl -bullet\n"
        for (j = 2; j <= total; j++) written = written ".It\n" prose(trim(items[j]))
        if (total > 1) written = written ".El\n"
    }
    return written
}

#-- reading ------------------------------------------------------------------------------------------------------------

FNR == 1 {
    in_header = FILENAME ~ /\.h$/
    in_head = in_header
    in_sample = is_fragment = page = 0
    file = FILENAME
    sub(/.*\//, "", file)
    if (in_header && !general) { files[++file_count] = file; file_heading[file_count] = ++heading_count; headings[heading_count] = file }
    comment = ""
}

# Programs in C, which check-examples or other tests compile: a file, or blocks in an article.
FILENAME ~ /\.c$/ { if (FNR == 1) sample_count++; else samples[sample_count] = samples[sample_count] $0 "\n"; next }
!in_header {
    if (in_sample && $0 == "```") in_sample = 0
    else if (in_sample) samples[sample_count] = samples[sample_count] $0 "\n"
    else if ($0 == "```c" && !is_fragment) in_sample = ++sample_count
    is_fragment = /^<!-- fragment/
    next
}

# The comment that heads a file: paragraphs and lists.
in_head && /^\/\// {
    line = substr($0, 3)
    if (FNR == 1) sub(/^ [a-z_-]+\.h \342\200\224 /, "", line)
    if (line ~ /^ *$/) head[file] = head[file] "\001"
    else if (line ~ /^  - /) head[file] = head[file] "\002" trim(substr(line, 5))
    else head[file] = head[file] (head[file] ~ /[\001\002]$|^$/ ? "" : " ") trim(line)
    next
}
in_head { in_head = 0; if (general) read_meanings(head[file]) }
# Of the core's header, another library takes what errors mean, and nothing else.
general { next }

# The item of the head that says what errors mean for which no reason is given.
function read_meanings(text) {
    if (!match(text, /\002Errors: [^\001\002]*/)) return
    text = substr(text, RSTART, RLENGTH)
    add_errors(substr(text, index(text, "-E")), meaning)
}

# The list of a comment, "-EX, -EY: reason; -EZ.", as list[code] in the order of list[1], list[2], …; what is there already stays. What is
# said of the function itself comes before the errors of another one.
function add_errors(text, list, count, items, codes, total, i, j, reason) {
    sub(/\.$/, "", text)
    count = split(text, items, /; /)
    for (i = 1; i <= count; i++) {
        if (items[i] ~ /^those of runloop_[a-z_]+$/) continue
        if (!match(items[i], /^-E[A-Z0-9]+(, -E[A-Z0-9]+)*/)) { fault("no error: " items[i]); continue }
        reason = trim(substr(items[i], RLENGTH + 2))
        total = split(substr(items[i], 1, RLENGTH), codes, ", ")
        for (j = 1; j <= total; j++) if (!(codes[j] in list)) { list[++list["count"]] = codes[j]; list[codes[j]] = reason }
    }
    for (i = 1; i <= count; i++) {
        if (!sub(/^those of /, "", items[i])) continue
        if (!(items[i] in page_of)) list["others"] = items[i]
        else if (page_of[items[i]] != writing) add_errors(page_errors[page_of[items[i]]], list)
    }
}

/^\/\/===--/ {
    line = $0
    gsub(/^\/\/===-- |[ -]*-===\/\/$/, "", line)
    headings[++heading_count] = line
    in_heading = 1
    comment = ""
    page = 0
    next
}
# What holds for everything below a heading.
in_heading && /^\/\/ / { heading_text[heading_count] = heading_text[heading_count] substr($0, 3); next }
in_heading { in_heading = 0 }

# In a structure or an enumeration.
in_body && /^}/ { end_type(); next }
in_body { member($0); next }

/^\/\/\// {
    if (declared) { comment = ""; page = 0; declared = 0 }
    line = trim(substr($0, 4))
    if (line == "") line = "\001"
    if (sub(/^Returns: /, "", line)) line = "\003" line
    if (sub(/^Errors: /, "", line)) line = "\004" line
    comment = comment (comment ~ /^$|\001$/ || line ~ /^[\001\003\004]/ ? "" : " ") line
    next
}
/^$/ { comment = ""; page = 0; declared = 0; next }

/^#define RUNLOOP_[A-Z_]+ / && comment != "" {
    declared = 1
    constants[++constant_count] = $2
    constant_file[constant_count] = file_count
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

function new_page(name) {
    page_section[++page_count] = heading_count
    page_names[page_count] = ""
    page_file[page_count] = file
    return page_count
}

# What a comment says, to a page that may have had a comment before.
function describe(p, comment, parts) {
    split(comment "\004\003", parts, "\004")
    if (index(parts[1], "\003")) {
        page_returns[p] = substr(parts[1], index(parts[1], "\003") + 1)
        parts[1] = substr(parts[1], 1, index(parts[1], "\003") - 1)
    }
    page_text[p] = page_text[p] (page_text[p] == "" ? "" : "\001") parts[1]
    sub(/\003$/, "", parts[2])
    sub(/\.$/, "", parts[2])
    if (parts[2] != "") page_errors[p] = page_errors[p] (page_errors[p] == "" ? "" : "; ") parts[2]
}

function add_name(p, name) { page_names[p] = page_names[p] (page_names[p] == "" ? "" : " ") name; page_of[name] = p }

function declaration(name, result, arguments, i, depth, character, argument, lines) {
    declared = 1
    sub(/;.*/, "", text)
    gsub(/RUNLOOP_(EXPORT|SENDABLE|CLOSED|OPEN)/, "", text)
    text = trim(text)
    if (text ~ /^typedef /) {
        name = text
        if (text ~ /\(\*/) { sub(/.*\(\* ?/, "", name); sub(/\).*/, "", name) } else sub(/.*[ *]/, "", name)
        # A loop itself is what section 7 is about, and man would show section 3 first.
        if (comment != "" && name != main) {
            add_name(new_page(), name)
            describe(page_count, comment)
            page_synopsis[page_count] = ".Bd -literal\n" text ";\n.Ed\n"
        }
        page = 0
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
    if (!page) {
        # A paragraph that says "the same" says nothing without the one before.
        if (comment == "") fault(name ": no comment")
        page = comment ~ /^The same / && last_function_page ? last_function_page : new_page()
        describe(page, comment)
    }
    add_name(page, name)
    is_function[name] = 1
    results[name] = result
    last_function_page = page
    page_synopsis[page] = page_synopsis[page] lines ".Fc\n"
    text = ""
}

function begin_type() {
    in_body = 1
    fields = note = field = ""
    # An enumeration without a name has the values of the type that was declared before it.
    type_name = text
    gsub(/RUNLOOP_(CLOSED|OPEN) /, "", type_name)
    # A set is an enumeration for some compilers, and a number of that name for others.
    is_set = sub(/RUNLOOP_FLAGS\(/, "", type_name)
    if (is_set) sub(/\)/, "", type_name)
    sub(/ *\{$/, "", type_name)
    type_definition = type_name ~ /typedef/ ? "typedef " : ""
    type_kind = type_name ~ /enum/ ? "enum" : "struct"
    sub(/.*(enum|struct) ?/, "", type_name)
    text = ""
}

# A line between the braces: a comment, or a field, which has the comment above it or behind it. Of several below a comment the first has it.
# Texts are written last, as they may name any function.
function member(line) {
    if (line ~ /^ *\/\/\//) { note = note " " substr(line, index(line, "///") + 3); return }
    if (line ~ /^ *(#.*|\/\/.*)?$/) return
    if (index(line, "///<")) { note = note " " substr(line, index(line, "///<") + 4); line = substr(line, 1, index(line, "///<") - 1) }
    field = trim(field " " line)
    if (type_kind == "struct" && field !~ /;$/) return
    sub(/[;,]$/, "", field)
    gsub(/RUNLOOP_SENDABLE /, "", field)
    fields = fields ".It Vt " quoted(field) "\n" (note == "" ? "" : "\005" trim(note) "\005")
    field = note = ""
}

function end_type(p) {
    in_body = 0
    p = type_name in page_of ? page_of[type_name] : 0
    if (type_name == "") p = page_count
    if (!p) { add_name(p = new_page(), type_name); describe(p, comment) }
    if (type_name != "") page_synopsis[p] = ".Bd -literal\n" (is_set ? "typedef uint32_t " : type_definition type_kind " ") type_name (type_definition == "" ? "" : " " type_name) ";\n.Ed\n"
    page_fields[p] = fields
    page = 0
    declared = 1
}

#-- writing ------------------------------------------------------------------------------------------------------------

# Up to the header in the synopsis.
function begin_page(path, names, section, about, name) {
    name = names
    sub(/ .*/, "", name)
    gsub(/ /, " ,\n.Nm ", names)
    printf ".Dd %s\n.Dt %s %s\n.Os \"runloop %s\"\n.nh\n.Sh NAME\n.Nm %s\n.Nd %s\n", date, toupper(name), section, version, names, title(summary(about)) > path
    if (section == 3) printf ".Sh LIBRARY\nlib%s (pkg-config %s, \\-l%s)\n", package, package, package > path
    printf ".Sh SYNOPSIS\n.In %s.h\n", main > path
}

function field_list(text, count, parts, i, written) {
    count = split(text, parts, "\005")
    for (i = 1; i <= count; i++) written = written (i % 2 ? parts[i] : prose(parts[i]))
    return ".Bl -tag -width Ds\n" written ".El\n"
}

# The result: as the comment says, or else what follows from the kinds of the results.
function return_value(p, names, count, i, kind, has, value) {
    count = split(page_names[p], names, " ")
    for (i = 1; i <= count; i++) {
        kind = results[names[i]]
        kind = kind == "void" ? "void" : kind ~ /^(int|ptrdiff_t)$/ ? "int" : names[i] ~ /_retain$/ ? "retain" : kind == "bool" ? "bool" : "value"
        has[kind] = names[i]
    }
    if ("int" in has && page_errors[p] == "") { file = page_file[p]; fault(has["int"] ": its errors are not listed") }
    if (page_errors[p] == "none") page_errors[p] = ""
    if (page_returns[p] != "") value = capital(page_returns[p])
    else if (page_errors[p] != "" && "int" in has) value = "0 on success."
    else if ("bool" in has || "value" in has || "int" in has) { match(page_text[p], /\.( |$)/); value = substr(page_text[p], 1, RSTART) }
    if (page_returns[p] == "" && "bool" in has) value = value " " ("int" in has ? has["bool"] " returns true or false, and" : "It is") " false if an argument is NULL."
    if ("retain" in has) value = value " " has["retain"] " returns its argument."
    if (page_errors[p] != "") value = value " An error is a negative errno value, see below; `errno` is not used."
    return value == "" ? "" : ".Sh RETURN VALUE\n" prose(trim(value))
}

function error_list(p, list, i, code, reason, written) {
    if (page_errors[p] == "") return ""
    file = page_file[writing = p]
    add_errors(page_errors[p], list)
    for (i = 1; i <= list["count"]; i++) {
        code = list[i]
        reason = list[code] == "" ? meaning[code] : list[code] (code == "-EINVAL" ? ", or " meaning[code] : "")
        if (reason == "") fault(page_names[p] ": no reason for " code)
        # Codes with the same reason share it.
        if (i < list["count"] && list[list[i + 1]] == list[code] && (list[code] != "" || meaning[list[i + 1]] == meaning[code]) && list[i + 1] != "-EINVAL" && code != "-EINVAL") reason = ""
        written = written ".It Er \\" code "\n" (reason == "" ? "" : prose(capital(reason) "."))
    }
    if (written != "") written = ".Bl -tag -width -ESHUTDOWN -compact\n" written ".El\n"
    if ("others" in list) written = written "Those of\n.Xr " list["others"] " 3 .\n"
    return ".Sh ERRORS\n" written
}

# The shortest program with the library's header that calls one of these functions, or has one of these types.
function example(words, names, count, i, j, best) {
    count = split(words, names, " ")
    for (i = 1; i <= sample_count; i++)
        for (j = 1; j <= count && index(samples[i], "#include <" main ".h>"); j++)
            if (match(samples[i], "[^a-z_]" names[j] (is_function[names[j]] ? "\\(" : "[^a-z_]")) && (!best || length(samples[i]) < length(samples[best]))) best = i
    return best ? ".Sh EXAMPLE\n" literal(samples[best]) : ""
}

function literal(text) { gsub(/\\/, "\\e", text); return ".Bd -literal\n" guarded(text) ".Ed\n" }

# References to the pages below the same heading, and to the types that the synopsis names.
function see_also(p, q, names, list, count, i, j, name, others) {
    for (q = 1; q <= page_count; q++) {
        split(page_names[q], names, " ")
        name = names[1]
        if (q != p && (page_section[q] == page_section[p] || index(page_synopsis[p], name " ") || index(page_synopsis[p], name "\""))) list[++count] = name
    }
    list[++count] = page_file[p]
    for (i = 2; i <= count; i++)
        for (j = i; j > 1 && list[j] < list[j - 1]; j--) { name = list[j]; list[j] = list[j - 1]; list[j - 1] = name }
    for (i = 1; i <= count; i++) others = others ".Xr " list[i] " 3 ,\n"
    return others overviews()
}

function overviews() { return (main == "runloop" ? "" : ".Xr runloop 7 ,\n") ".Xr " main " 7\n" }

function write_page(p, names, count, i, path) {
    count = split(page_names[p], names, " ")
    path = folder "/man3/" names[1] ".3"
    begin_page(path, page_names[p], 3, page_text[p])
    printf "%s.Sh DESCRIPTION\n%s", page_synopsis[p], paragraphs(page_text[p] (is_function[names[1]] ? "\001" heading_text[page_section[p]] : "")) > path
    if (page_fields[p] != "") printf "%s", field_list(page_fields[p]) > path
    if (is_function[names[1]]) printf "%s%s", return_value(p), error_list(p) > path
    printf "%s.Sh SEE ALSO\n%s", example(page_names[p]), see_also(p) > path
    close(path)
    for (i = 2; i <= count; i++) print names[i], names[1] # For the links.
}

# What is in a header, by its headings.
function write_header(f, path, h, last, p, i, names, shown, functions) {
    path = folder "/man3/" files[f] ".3"
    begin_page(path, files[f], 3, head[files[f]])
    print ".Sh DESCRIPTION" > path
    if (files[f] == main ".h") printf "The header to include, which includes its parts.\nWhat holds for all of it says\n.Xr %s 7 .\n", main > path
    else printf "%s", paragraphs(capital(head[files[f]])) > path
    last = f < file_count ? file_heading[f + 1] - 1 : heading_count
    for (h = file_heading[f]; h <= last; h++) {
        shown = 0
        for (p = 1; p <= page_count; p++) {
            if (page_section[p] != h) continue
            if (!shown++) printf "%s%s.Bl -tag -width Ds\n", (h == file_heading[f] ? "" : ".Ss " plain(headings[h]) "\n"), paragraphs(heading_text[h]) > path
            split(page_names[p], names, " ")
            if (is_function[names[1]]) functions = functions " " page_names[p]
            printf ".It Xr %s 3\n%s", names[1], prose(summary(page_text[p])) > path
        }
        if (shown) print ".El" > path
    }
    for (i = 1; i <= constant_count; i++) {
        if (constant_file[i] != f) continue
        if (constant_file[i - 1] != f) print ".Ss Constants\n.Bl -tag -width Ds" > path
        printf ".It Dv %s\n%s", constants[i], (constant_text[i] == "" ? "" : prose(constant_text[i])) > path
        if (constant_file[i + 1] != f) print ".El" > path
    }
    printf "%s.Sh SEE ALSO\n%s", example(functions), overviews() > path
    close(path)
}

function write_overview(path, f, text) {
    path = folder "/man7/" main ".7"
    begin_page(path, main, 7, head[main ".h"])
    printf ".Pp\n.Dl cc program.c $(pkg-config --cflags --libs %s)\n.Sh DESCRIPTION\n", package > path
    if (main == "runloop")
        printf "%s.Pp\n", prose("A run loop is a thread's way of waiting for several kinds of things at once, and of calling the program for one of them at a " \
            "time: descriptors, timers, tasks that other threads enqueue, signalled sources. Each thread has one, created when it first asks for it. What is " \
            "added belongs to modes, and a run serves one mode; runs nest, and observers are notified of each step of a run.") > path
    text = head[main ".h"]
    sub(/ R36 and the like are rules of docs\/RULES\.md\./, "", text)
    printf "%s.Sh HEADERS\n.Bl -tag -width Ds\n", paragraphs(capital(text)) > path
    for (f = 1; f <= file_count; f++) printf ".It Xr %s 3\n%s", files[f], prose(summary(head[files[f]])) > path
    print ".El" > path
    if (main == "runloop") printf ".Sh EXAMPLE\nA timer that fires three times, and then stops the run:\n%s", literal(samples[1]) > path
    else print ".Sh SEE ALSO\n.Xr runloop 7" > path
    close(path)
}

END {
    for (p = 1; p <= page_count; p++) write_page(p)
    for (f = 1; f <= file_count; f++) if (files[f] != "runloop_set.h") write_header(f)
    write_overview()
}
