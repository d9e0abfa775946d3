#if os(Linux)
/// Values in the order in which they were appended. The first can be removed, in O(1), amortized; what was removed is not kept.
package struct Queue<Element> {
    /// From `start` on without gaps; `nil` before.
    private var elements: [Element?] = []
    private var start = 0

    package init() {}

    package var count: Int { elements.count - start }
    package var isEmpty: Bool { count == 0 }

    package mutating func append(_ element: Element) { elements.append(element) }

    package var first: Element? { isEmpty ? nil : elements[start] }

    package mutating func removeFirst() -> Element? {
        if isEmpty { return nil }
        let element = elements[start].take()
        start += 1
        if start >= 32 && start > elements.count / 2 {
            elements.removeFirst(start)
            start = 0
        }
        return element
    }

    package mutating func removeAll() -> [Element] {
        defer { self = Queue() }
        return elements.compactMap(\.self)
    }
}
#endif
