#pragma once

#include "gossamer/actors/protocol/consensus.hpp"
#include "gossamer/actors/protocol/control.hpp"
#include "gossamer/actors/protocol/files.hpp"
#include "gossamer/actors/protocol/joining.hpp"
#include "gossamer/actors/protocol/run_books.hpp"
#include "gossamer/actors/protocol/run_status.hpp"

#include <string_view>
#include <tuple>

namespace gossamer::actors {

/// A message type, and its name on the wire.
template <class Message>
struct named_message {
  std::string_view name;
};

/// All messages that cross machines besides frames, except three with handles of actors (node/interfaces.hpp).
/// docs/control-messages.md names the sender and the purpose of each.
inline constexpr std::tuple plain_messages{
    // joining.hpp
    named_message<join_request>{"gossamer::join_request"}, named_message<ask_there>{"gossamer::ask_there"},
    named_message<run_offer>{"gossamer::run_offer"}, named_message<switch_fault>{"gossamer::switch_fault"},
    named_message<leave_run>{"gossamer::leave_run"},
    // run.hpp
    named_message<begin_run>{"gossamer::begin_run"}, named_message<heartbeat>{"gossamer::heartbeat"},
    named_message<node_lost>{"gossamer::node_lost"}, named_message<run_event>{"gossamer::run_event"},
    named_message<run_failed>{"gossamer::run_failed"},
    // consensus.hpp
    named_message<consensus::hold>{"gossamer::consensus::hold"},
    named_message<consensus::holding>{"gossamer::consensus::holding"},
    named_message<consensus::propose>{"gossamer::consensus::propose"},
    named_message<consensus::accepted>{"gossamer::consensus::accepted"},
    named_message<consensus::proceed>{"gossamer::consensus::proceed"},
    named_message<consensus::refused>{"gossamer::consensus::refused"},
    named_message<consensus::wish>{"gossamer::consensus::wish"},
    // workers.hpp
    named_message<worker_joined>{"gossamer::worker_joined"}, named_message<worker_paused>{"gossamer::worker_paused"},
    named_message<worker_finished>{"gossamer::worker_finished"}, named_message<worker_lost>{"gossamer::worker_lost"},
    named_message<worker_waits>{"gossamer::worker_waits"}, named_message<kill_worker>{"gossamer::kill_worker"},
    named_message<restart_worker>{"gossamer::restart_worker"}, named_message<retire_worker>{"gossamer::retire_worker"},
    named_message<pause_worker>{"gossamer::pause_worker"},
    // steps.hpp
    named_message<work_report>{"gossamer::work_report"}, named_message<run_progress>{"gossamer::run_progress"},
    named_message<run_books>{"gossamer::chair_books"},
    // evaluation.hpp
    named_message<snapshot_request>{"gossamer::snapshot_request"},
    named_message<snapshot_taken>{"gossamer::snapshot_taken"}, named_message<mean_request>{"gossamer::mean_request"},
    named_message<mean_evaluated>{"gossamer::mean_evaluated"},
    // checkpoints.hpp
    named_message<save_checkpoint>{"gossamer::save_checkpoint"}, named_message<part_saved>{"gossamer::part_saved"},
    named_message<part_not_saved>{"gossamer::part_not_saved"},
    named_message<checkpoint_complete>{"gossamer::checkpoint_complete"},
    // run_status.hpp
    named_message<status_request>{"gossamer::status_request"}, named_message<run_status>{"gossamer::run_status"},
    named_message<stop_request>{"gossamer::stop_request"}, named_message<leave_request>{"gossamer::leave_request"},
    named_message<will_leave>{"gossamer::will_leave"}, named_message<lines_request>{"gossamer::lines_request"},
    named_message<run_lines>{"gossamer::run_lines"},
    // files.hpp
    named_message<catalogue_request>{"gossamer::catalogue_request"},
    named_message<file_catalogue>{"gossamer::file_catalogue"}, named_message<piece_request>{"gossamer::piece_request"},
    named_message<piece>{"gossamer::piece"}, named_message<no_files>{"gossamer::no_files"}};

} // namespace gossamer::actors
