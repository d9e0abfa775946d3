// gtk.c — the window in GTK 4.
#include <gtk/gtk.h>
#include <toolkit.h>

static GtkWidget *window;
static GtkWidget *area;
static GMainLoop *outermost;
static GMainLoop *nested;
static GtkWidget *dialog;
static guint tick;
static long frames;

static void draw(GtkDrawingArea *drawn, cairo_t *context, int width, int height, gpointer unused) {
    (void)drawn, (void)unused;
    frames++;
    cairo_set_source_rgb(context, (double)(frames % 60) / 60, 0.5, 0.5);
    cairo_rectangle(context, 0, 0, width, height);
    cairo_fill(context);
}

static gboolean closed(GtkWindow *closing, gpointer unused) {
    (void)closing, (void)unused;
    g_main_loop_quit(outermost);
    return FALSE;
}

void toolkit_open(void) {
    gtk_init();
    outermost = g_main_loop_new(NULL, FALSE);
    nested = g_main_loop_new(NULL, FALSE);
    window = gtk_window_new();
    area = gtk_drawing_area_new();
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(area), draw, NULL, NULL);
    gtk_window_set_child(GTK_WINDOW(window), area);
    gtk_window_set_default_size(GTK_WINDOW(window), 200, 120);
    g_signal_connect(window, "close-request", G_CALLBACK(closed), NULL);
    gtk_window_present(GTK_WINDOW(window));
}

static gboolean ask_for_frame(GtkWidget *widget, GdkFrameClock *clock, gpointer unused) {
    (void)clock, (void)unused;
    gtk_widget_queue_draw(widget);
    return G_SOURCE_CONTINUE;
}

void toolkit_animate(bool animates) {
    if (tick)
        gtk_widget_remove_tick_callback(area, tick);
    tick = animates ? gtk_widget_add_tick_callback(area, ask_for_frame, NULL, NULL) : 0;
}

long toolkit_get_frames(void) {
    return frames;
}

void toolkit_run(void) {
    g_main_loop_run(outermost);
}

void toolkit_close(void) {
    gtk_window_close(GTK_WINDOW(window));
}

void toolkit_run_nested(void) {
    g_main_loop_run(nested);
}

void toolkit_run_dialog(void) {
    dialog = gtk_window_new();
    gtk_window_set_modal(GTK_WINDOW(dialog), TRUE);
    gtk_window_set_transient_for(GTK_WINDOW(dialog), GTK_WINDOW(window));
    gtk_window_set_child(GTK_WINDOW(dialog), gtk_label_new("Save?"));
    gtk_window_present(GTK_WINDOW(dialog));
    g_main_loop_run(nested);
    gtk_window_destroy(GTK_WINDOW(dialog));
}

void toolkit_quit_nested(void) {
    g_main_loop_quit(nested);
}

static gboolean repeat(gpointer call) {
    ((void (*)(void))call)();
    return G_SOURCE_CONTINUE;
}

static gboolean call_and_end(gpointer call) {
    ((void (*)(void))call)();
    return G_SOURCE_REMOVE;
}

void toolkit_repeat(int milliseconds, void (*call)(void)) {
    g_timeout_add((guint)milliseconds, repeat, (gpointer)call);
}

void toolkit_call(void (*call)(void)) {
    g_timeout_add(1, call_and_end, (gpointer)call);
}

void toolkit_set_wait(void (*wait)(long long nanoseconds)) {
    (void)wait;
}
