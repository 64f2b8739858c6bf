#include "gossamer/apps/command.hpp"

int main(int argc, char** argv) { return gossamer::apps::run_command(argc, argv); }
