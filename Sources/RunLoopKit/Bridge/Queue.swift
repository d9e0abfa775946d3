#if os(Linux)
/// Values in the order in which they were appended. The first can be removed, in O(1), amortized; what was removed is not kept.
package struct Queue<Element> {
    /// From `start` on without gaps; `nil` before.
    @usableFromInline var elements: [Element?] = []
    @usableFromInline var start = 0

    @inlinable package init() {}

    @inlinable package var count: Int { elements.count - start }
    @inlinable package var isEmpty: Bool { count == 0 }

    @inlinable package mutating func append(_ element: Element) { elements.append(element) }

    @inlinable package var first: Element? { isEmpty ? nil : elements[start] }

    @inlinable package mutating func removeFirst() -> Element? {
        if isEmpty { return nil }
        let element = elements[start].take()
        start += 1
        if start >= 32 && start > elements.count / 2 {
            elements.removeFirst(start)
            start = 0
        }
        return element
    }

    @inlinable package mutating func removeAll() -> [Element] {
        defer { self = Queue() }
        return elements.compactMap(\.self)
    }
}
#endif
