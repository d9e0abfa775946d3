// reports.c — the reports on all loops that are followed. They are made without a lock, of loops that are retained.

#ifdef __linux__
#include "reports.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "attendant.h"

static void release_loops(runloop **loops) {
    for (runloop **loop = loops; *loop; loop++)
        runloop_release(*loop);
    free(loops);
}

void reports_write(runloop_report_form form) {
    runloop **loops = attendant_copy_loops();
    if (!loops)
        return;
    for (runloop **loop = loops; *loop; loop++) {
        char *report = runloop_copy_report(*loop, form);
        if (report)
            dprintf(STDERR_FILENO, form == RUNLOOP_REPORT_JSON ? "%s\n" : "%s", report);
        free(report);
    }
    release_loops(loops);
}

char *reports_copy(void) {
    char *reports = NULL;
    size_t size = 0;
    runloop **loops = attendant_copy_loops();
    FILE *text = loops ? open_memstream(&reports, &size) : NULL;
    if (!text) {
        if (loops)
            release_loops(loops);
        return NULL;
    }
    int written = 0;
    for (runloop **loop = loops; *loop; loop++) {
        char *report = runloop_copy_report(*loop, RUNLOOP_REPORT_JSON);
        if (report)
            fprintf(text, "%c%s\n", written++ ? ',' : '[', report);
        free(report);
    }
    release_loops(loops);
    fputs(written ? "]\n" : "[]\n", text);
    if (fclose(text) == 0)
        return reports;
    free(reports);
    return NULL;
}
#endif // __linux__
