# A scenario's trace as a line for each outermost run, nested runs in parentheses.
function flush_line() { if (line != "") print line; line = "" }
function put(text) { line = line (line == "" || line ~ /\($/ ? "" : " ") text }
{
    depth = match($0, /[^ ]/) - 1
    depth = depth / 2
    text = substr($0, RSTART)
    is_result = text ~ /^-> /
    sub(/^-> /, "→ ", text)
    # A result stands one level further out than what it is the result of.
    level = is_result ? depth + 1 : depth
    while (open < level - 1) { put("("); open++ }
    if (!is_result && text ~ / / ) text = "[" text "]"
    put(text)
    if (is_result && depth > 0) { line = line ")"; open-- }
    if (is_result && depth == 0) flush_line()
}
END { flush_line() }
