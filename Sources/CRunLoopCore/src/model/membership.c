// membership.c — the modes of a loop that an item is in, and the set of common items. All of it is guarded by the loop's lock.

#ifdef __linux__
#include "model/model.h"

/// The inline node if it is free. NULL when memory ran out.
static struct membership *new_membership(struct attachment *attachment) {
    return attachment->first.mode ? malloc(sizeof(struct membership)) : &attachment->first;
}

static void free_membership(struct attachment *attachment, struct membership *membership) {
    if (membership == &attachment->first)
        membership->mode = NULL;
    else
        free(membership);
}

static void unlink_membership(struct attachment *attachment, struct membership *membership) {
    struct membership **link = &attachment->memberships;
    while (*link != membership)
        link = &(*link)->next;
    *link = membership->next;
}

int runloop__membership_add(runloop *loop, struct attachment *attachment, struct item *item, struct mode *mode) {
    ASSERT_LOCKED(loop);
    struct membership *membership = new_membership(attachment);
    if (!membership)
        return -ENOMEM;
    bool is_first = !attachment->memberships;
    // One in the pseudo-mode stays the first.
    struct membership *common = common_find(loop, attachment);
    struct membership **link = common ? &common->next : &attachment->memberships;
    *membership = (struct membership){.mode = mode, .item = item, .next = *link, .position = NOWHERE};
    *link = membership;
    int error = item_class(item)->insert(loop, attachment, membership);
    if (error) {
        unlink_membership(attachment, membership);
        free_membership(attachment, membership);
        return error;
    }
    loop->membership_changes++;
    if (is_first)
        item_retain(item);
    return 0;
}

int runloop__membership_add_named(runloop *loop, struct attachment *attachment, struct item *item, const char *name,
                                  struct mode **mode) {
    struct mode *found = *mode;
    if (!found && !(*mode = runloop__mode_new(name)))
        return -ENOMEM;
    int error = runloop__membership_add(loop, attachment, item, *mode);
    if (!found && error)
        runloop__mode_free(*mode);
    else if (!found)
        mode_adopt(loop, *mode);
    return error;
}

bool runloop__membership_remove(runloop *loop, struct attachment *attachment, struct membership *membership) {
    ASSERT_LOCKED(loop);
    loop->membership_changes++;
    if (membership->mode == &loop->common) {
        list_remove(&LIST_ENTRY(membership, struct common_membership, membership)->in_set);
        attachment->memberships = membership->next;
        free(membership);
    } else {
        item_class(membership->item)->extract(loop, attachment, membership);
        unlink_membership(attachment, membership);
        free_membership(attachment, membership);
    }
    bool was_last = !attachment->memberships;
    attachment_settle(attachment);
    return was_last;
}

int runloop__common_add(runloop *loop, struct attachment *attachment, struct item *item) {
    ASSERT_LOCKED(loop);
    struct common_membership *entry = malloc(sizeof *entry);
    if (!entry)
        return -ENOMEM;
    struct membership *first = attachment->memberships;
    entry->membership = (struct membership){.mode = &loop->common,
                                            .item = item,
                                            .next = first,
                                            .serial = first ? first->serial : ++loop->serial,
                                            .position = NOWHERE};
    attachment->memberships = &entry->membership;
    list_append(&loop->common_items, &entry->in_set);
    if (!first)
        item_retain(item);
    return 0;
}
#endif // __linux__
