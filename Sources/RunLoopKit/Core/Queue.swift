/// Values in the order in which they were appended. The first can be removed, in O(1), amortized; what was removed is not kept.
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

    mutating func removeAll() -> [Element] {
        defer { self = Queue() }
        return elements.compactMap(\.self)
    }
}
