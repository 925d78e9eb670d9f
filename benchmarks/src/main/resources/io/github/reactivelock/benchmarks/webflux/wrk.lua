-- For wrk: each request is for one of the keys, by chance. The arguments are how many keys there are.
local threads = 0
local requests = {}

function setup(thread)
  threads = threads + 1
  thread:set("number", threads)
end

function init(args)
  math.randomseed(number)
  for key = 0, tonumber(args[1]) - 1 do
    requests[#requests + 1] = wrk.format("POST", wrk.path .. key)
  end
end

function request()
  return requests[math.random(#requests)]
end

function done(summary, latency, all)
  local errors = summary.errors
  io.write(string.format("measured %d %d %d %d %d %d\n", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), errors.status,
    errors.connect + errors.read + errors.write + errors.timeout))
end
