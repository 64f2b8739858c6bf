#include "command.hpp"
