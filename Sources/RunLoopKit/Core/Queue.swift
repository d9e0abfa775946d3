/// Values in the order in which they were appended. The first can be removed in O(1), amortized, any other in O(n); what was removed is not
/// kept.
struct Queue<Element> {
    /// From `start` on without gaps; `nil` before.
    private var elements: [Element?] = []
    private var start = 0

    var count: Int { elements.count - start }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ element: Element) { elements.append(element) }

    var first: Element? { isEmpty ? nil : elements[start] }

    mutating func removeFirst() -> Element? {
        if isEmpty { return nil }
        let element = elements[start].take()
        start += 1
        if start >= 32 && start > elements.count / 2 {
            elements.removeFirst(start)
            start = 0
        }
        return element
    }

    /// The offsets of elements begin with 0.
    func firstOffset(where condition: (Element) -> Bool) -> Int? {
        elements[start...].firstIndex { $0.map(condition) ?? false }.map { $0 - start }
    }

    mutating func remove(at offset: Int) -> Element? { elements.remove(at: start + offset) }

    mutating func update<Result>(at offset: Int, _ body: (inout Element) -> Result) -> Result? {
        elements[start + offset].map { element in
            var element = element
            defer { elements[start + offset] = element }
            return body(&element)
        }
    }

    mutating func removeAll() -> [Element] {
        defer { self = Queue() }
        return elements.compactMap(\.self)
    }
}
