/// Values in the order in which they were appended. The first can be removed in O(1), amortized, any other in O(n); what was removed is not
/// kept.
struct PortQueue<Element> {
    /// From `first` on without gaps; `nil` before.
    private var elements: [Element?] = []
    private var first = 0

    var count: Int { elements.count - first }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func removeFirst() -> Element? {
        if isEmpty { return nil }
        let element = elements[first].take()
        first += 1
        if first >= 32 && first > elements.count / 2 {
            elements.removeFirst(first)
            first = 0
        }
        return element
    }

    /// The offsets of elements begin with 0.
    func firstOffset(where condition: (Element) -> Bool) -> Int? {
        elements[first...].firstIndex { $0.map(condition) ?? false }.map { $0 - first }
    }

    mutating func remove(at offset: Int) -> Element? { elements.remove(at: first + offset) }

    mutating func update<Result>(at offset: Int, _ body: (inout Element) -> Result) -> Result? {
        elements[first + offset].map { element in
            var element = element
            defer { elements[first + offset] = element }
            return body(&element)
        }
    }

    mutating func removeAll() -> [Element] {
        defer { self = PortQueue() }
        return elements.compactMap(\.self)
    }
}
