-- One lock. The first argument says what is wanted; one script for all, so that either every verb is known to the
-- server or none. The class Javadoc of RedisLockBackend is the specification.
--
-- ARGV: verb, the beginning of all channels, and what the verb needs
--
-- owner    "id token client label" of the claim that has the lock; expires with its lease
-- token    the last fencing token, without the engine's low bits; expires a day after its last use
-- queue    the waiting claims' ids in order of arrival
-- waiters  "lease client deadline label" of each of them
-- watch    exists while somebody wants to hear of changes
local call = redis.call

if ARGV[1] == 'renew' then
  local RENEWED, MISSING, OTHER = 1, 2, 3
  local answers = {}
  for i, key in ipairs(KEYS) do
    local id, lease = ARGV[2 * i + 1], ARGV[2 * i + 2]
    local value = redis.pcall('GET', key) -- one key that holds something else must not stop the others
    if not value then
      answers[i] = MISSING
    elseif type(value) == 'string' and string.sub(value, 1, #id + 1) == id .. ' ' then
      call('PEXPIRE', key, lease)
      answers[i] = RENEWED
    else
      answers[i] = OTHER
    end
  end
  return answers
end

if ARGV[1] == 'foreign' then
  for i, key in ipairs(KEYS) do
    local found = call('TYPE', key).ok
    if found ~= 'none' and found ~= ARGV[i + 2] then
      return { key, found }
    end
  end
  return {}
end

-- One call about one lock: its keys are KEYS[k + 1] to KEYS[k + 5], its arguments ARGV[at + 1] to ARGV[at + count].
local function answer(verb, k, at, count)
  local GRANTED, QUEUED, BUSY = 1, 2, 3
  local TOKEN_KEPT_MS, WATCH_MS = 86400000, 60000
  local OWNER, TOKEN, QUEUE, WAITERS, WATCH = KEYS[k + 1], KEYS[k + 2], KEYS[k + 3], KEYS[k + 4], KEYS[k + 5]

  -- Most releases find nobody behind them, and most claims nobody before them: they end here. The lock is given up
  -- before anything else is tried: whatever fails after that, nobody is left with it.
  local owner, behind
  if verb == 'release' then
    owner = call('GET', OWNER)
    if owner and string.find(owner, ARGV[at + 1] .. ' ', 1, true) == 1 then
      call('DEL', OWNER)
      behind = call('EXISTS', QUEUE, WATCH)
      if behind == 0 then
        return { 1 }
      end
    end
  end

  local function micros() -- since 2020 by the server's clock
    local now = call('TIME')
    return (now[1] - 1577836800) * 1000000 + now[2]
  end

  -- The token goes first: it is the write that a server without memory refuses, and alone it takes nothing. Lua's
  -- tostring keeps only 14 digits.
  local function grant(to, its_client, lease, its_label, now)
    local text, kept = string.format('%.0f', now), TOKEN_KEPT_MS + lease
    local last = tonumber(call('SET', TOKEN, text, 'PX', kept, 'GET') or 0) or 0
    if last >= now then
      now = last + 1
      text = string.format('%.0f', now)
      call('SET', TOKEN, text, 'PX', kept)
    end
    call('SET', OWNER, to .. ' ' .. text .. ' ' .. its_client .. ' ' .. its_label, 'PX', lease)
    return text, now
  end

  if verb == 'claim' and call('EXISTS', OWNER, QUEUE, WATCH) == 0 then
    local _, number = grant(ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 5], micros())
    return { GRANTED, number }
  end

  owner = owner or call('GET', OWNER)
  local id, token, client, label
  if owner then
    id, token, client, label = string.match(owner, '^(%S+) (%d+) (%S+) (.*)$')
    if not id then
      return redis.error_reply('FOREIGN ' .. OWNER)
    end
  end

  if verb == 'release' and id ~= ARGV[at + 1] then
    if call('ZREM', QUEUE, ARGV[at + 1]) == 1 then
      call('HDEL', WAITERS, ARGV[at + 1])
    end
    return { 0 }
  end
  if verb == 'force' then
    if not owner then
      return { 0 }
    end
    call('DEL', OWNER)
  end

  local space = ARGV[2]
  local sharded = string.sub(space, -6) == ':shard' -- channels in the slot of their lock

  local function tell(to, message)
    if sharded then
      call('SPUBLISH', space .. ':grants:' .. OWNER .. ':' .. to, message)
    else
      call('PUBLISH', space .. ':grants:' .. to, message)
    end
  end

  local function announce(message)
    call(sharded and 'SPUBLISH' or 'PUBLISH', space .. ':events:' .. OWNER, message)
  end

  -- Takes the first waiter that is alive out of the queue, and the dead ones before it.
  local function next_waiter(now)
    while true do
      local head = call('ZPOPMIN', QUEUE)[1]
      if not head then
        return nil
      end
      local lease, its_client, deadline, its_label =
        string.match(call('HGET', WAITERS, head) or '', '^(%d+) (%S+) (%d+) (.*)$')
      call('HDEL', WAITERS, head)
      if lease and tonumber(deadline) * 1000 > now then
        return { id = head, client = its_client, lease = lease, label = its_label }
      end
    end
  end

  local function serve(waiter, watched, now)
    local text = grant(waiter.id, waiter.client, waiter.lease, waiter.label, now)
    tell(waiter.client, 'grant ' .. waiter.id .. ' ' .. text)
    if watched then
      announce('acquired ' .. text .. ' ' .. waiter.label)
    end
  end

  local function claim()
    local me, my_client, lease, mode, my_label = ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4], ARGV[at + 5]
    local ticket = count > 5 and ARGV[at + 6] -- a place in the queue, given where several servers should agree on the order
    if id == me then
      call('PEXPIRE', OWNER, lease)
      return { GRANTED, tonumber(token) }
    end
    local now = micros()
    local left
    if owner then
      left = call('PTTL', OWNER)
      if left < 0 then -- somebody took the expiry away: nothing here may stay for ever
        call('PEXPIRE', OWNER, lease)
        left = tonumber(lease)
      end
    else
      local watched, first = false, nil
      if call('EXISTS', QUEUE, WATCH) > 0 then
        watched = call('EXISTS', WATCH) == 1
        first = next_waiter(now)
      end
      if not first or first.id == me then
        local text, number = grant(me, my_client, lease, my_label, now)
        if watched then
          announce('acquired ' .. text .. ' ' .. my_label)
        end
        return { GRANTED, number }
      end
      serve(first, watched, now)
      id, left = first.id, tonumber(first.lease)
    end
    if mode == 'TRY' then
      return { BUSY }
    end
    local last
    if not ticket then
      last = call('ZREVRANGE', QUEUE, 0, 0, 'WITHSCORES')
      ticket = string.format('%.0f', (last[2] or 0) + 1)
    end
    local deadline = string.format('%.0f', math.floor(now / 1000) + lease)
    local added = call('ZADD', QUEUE, 'NX', ticket, me)
    call('HSET', WAITERS, me, lease .. ' ' .. my_client .. ' ' .. deadline .. ' ' .. my_label)
    if call('PTTL', QUEUE) < tonumber(lease) then -- longer than needed, so that not every waiter has to do it
      call('PEXPIRE', QUEUE, 2 * lease)
      call('PEXPIRE', WAITERS, 2 * lease)
    end
    return { QUEUED, left, last and added == 1 and (last[1] or id) or nil }
  end

  if verb == 'claim' then
    return claim()
  end

  -- For a quorum: the answer, how long this server has had its memory, and who waits longest. Uptime is a difference of whole seconds of the
  -- wall clock, so it may be one too many.
  if verb == 'vote' then
    local answer, server = claim(), call('INFO', 'server')
    answer[2] = answer[2] or 0
    answer[3] = string.match(server, 'run_id:(%x+)')
    answer[4] = math.max(tonumber(string.match(server, 'uptime_in_seconds:(%d+)')) - 1, 0)
    answer[5] = tonumber(call('ZRANGE', QUEUE, 0, 0, 'WITHSCORES')[2] or -1)
    return answer
  end

  if verb == 'raise' then
    local me, wanted, lease = ARGV[at + 1], ARGV[at + 2], tonumber(ARGV[at + 3])
    if tonumber(call('GET', TOKEN) or 0) < tonumber(wanted) then
      call('SET', TOKEN, wanted, 'PX', TOKEN_KEPT_MS + lease)
    end
    if id == me and tonumber(token) < tonumber(wanted) then
      call('SET', OWNER, id .. ' ' .. wanted .. ' ' .. client .. ' ' .. label, 'KEEPTTL')
    end
    return { 1 }
  end

  if verb == 'release' or verb == 'force' then
    behind = behind or call('EXISTS', QUEUE, WATCH)
    local now = micros()
    local first = next_waiter(now)
    local watched = behind == 2 or not first and call('EXISTS', WATCH) == 1
    if watched then
      announce('released ' .. token)
    end
    if first and not pcall(serve, first, watched, now) then
      tell(first.client, 'recheck ' .. OWNER)
    end
    if verb == 'force' then
      tell(client, 'forced ' .. id)
    end
    return { 1 }
  end

  -- inspect, and watch, which says in the first place whether the mark was missing
  local missing = 0
  if verb == 'watch' and not call('SET', WATCH, '1', 'PX', WATCH_MS, 'GET') then
    missing = 1
  end
  if not owner then
    return { missing }
  end
  local now, waiting = micros(), 0
  for _, waiter in ipairs(call('HVALS', WAITERS)) do
    if tonumber(string.match(waiter, '^%d+ %S+ (%d+) ') or 0) * 1000 > now then
      waiting = waiting + 1
    end
  end
  return { missing, tonumber(token), math.max(call('PTTL', OWNER), 0), waiting, label }
end

if ARGV[1] ~= 'batch' then
  return answer(ARGV[1], 0, 2, #ARGV - 2)
end

-- Several such calls, each with the number of its arguments before it. What fails is answered with its error's text and
-- leaves the others alone.
local answers, next_call = {}, 3
for i = 1, #KEYS / 5 do
  local count = tonumber(ARGV[next_call])
  local done, reply = pcall(answer, ARGV[next_call + 1], 5 * (i - 1), next_call + 1, count)
  next_call = next_call + count + 2
  if done and not reply.err then
    answers[i] = reply
  else
    answers[i] = type(reply) == 'table' and reply.err or reply
  end
end
return answers
