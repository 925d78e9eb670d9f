-- One lock. The first argument says what is wanted; one script for all, so that either every verb is known to the
-- server or none. The class Javadoc of RedisLockBackend is the specification.
--
-- ARGV: verb, and what the verb needs
--
-- owner    "id channel label token" of the claim that has the lock; expires with its lease
-- token    the last fencing token, without the engine's low bits, a time in microseconds; expires ten minutes after that
--          time or after its last use. While a client watches for changes it is "+token deadline channel"
-- queue    the waiting claims' ids in order of arrival
-- waiters  "lease deadline channel label" of each of them; the deadline begins with a zero if this server had confirmed
--          the channel, so that it knows whether the client is there
--
-- A plus sign, at the end of the owner and at the beginning of the token, says: look whether there is a queue or a
-- watcher. While there is one, both have the sign, if they exist.
local call = redis.call
local KEPT_MS = '600000'

-- For how long a counter is kept: longer where the clock has yet to come to its token.
local function kept(token, now)
  return string.format('%.0f', math.min(math.max(token - now, 0) / 1000, 3e12) + KEPT_MS) -- a century at most
end

if ARGV[1] == 'renew' then
  local RENEWED, MISSING, OTHER = 1, 2, 3
  local answers = {}
  for i, key in ipairs(KEYS) do
    local id, lease = ARGV[2 * i], ARGV[2 * i + 1]
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
    if found ~= 'none' and found ~= ARGV[i + 1] then
      return { key, found }
    end
  end
  return {}
end

if ARGV[1] == 'memory' then -- what becomes of keys when it is full, and how much there may be
  local memory = call('INFO', 'memory')
  return {
    string.match(memory, 'maxmemory_policy:([^\r\n]+)') or '',
    tonumber(string.match(memory, 'maxmemory:(%d+)') or 0),
  }
end

-- A part of the names that fit a pattern, and where the next one begins; the server looks at a thousand keys.
if ARGV[1] == 'scan' then
  local part = call('SCAN', ARGV[2], 'MATCH', ARGV[3], 'COUNT', 1000, 'TYPE', 'string')
  local names = part[2]
  names[#names + 1] = part[1]
  return names
end

-- Which primary of a cluster has which slots: first slot, last slot, a name, for each range.
if ARGV[1] == 'primaries' then
  local found = {}
  for _, range in ipairs(call('CLUSTER', 'SLOTS')) do
    local node = range[3]
    found[#found + 1] = range[1]
    found[#found + 1] = range[2]
    found[#found + 1] = node[1] .. ':' .. node[2]
  end
  return found
end

-- One call about one lock: its keys are KEYS[k + 1] to KEYS[k + 4], its arguments begin at ARGV[at + 1].
local function answer(verb, k, at)
  local OWNER, TOKEN, QUEUE, WAITERS = KEYS[k + 1], KEYS[k + 2], KEYS[k + 3], KEYS[k + 4]
  local PLUS, ZERO, WATCH_MICROS, MOST = 43, 48, 60000000, 100
  local me = ARGV[at + 1] -- a claim's id, with channel and label where it may be granted; or a watcher's channel, a token
  local now, owner

  -- Most claims find no other before them and most releases none behind them: they end here.
  if verb == 'await' or verb == 'claim' or verb == 'try' then
    local time = call('TIME')
    now = (time[1] - 1577836800) * 1000000 + time[2] -- microseconds since 2020
    local text = string.format('%d', now) -- Lua's tostring keeps only 14 digits
    local taken = redis.pcall('SET', OWNER, me .. ' ' .. text, 'NX', 'PX', ARGV[at + 2])
    if taken and taken.ok then
      local last = redis.pcall('SET', TOKEN, text, 'PX', KEPT_MS, 'GET')
      if last and last.err then
        call('DEL', OWNER)
        return last
      end
      local known = tonumber(last) or 0
      if known > 0 and known < now and string.byte(last) ~= PLUS then
        return now
      end
      -- It has to be looked at more closely, as if nothing had been done.
      call('DEL', OWNER)
      if last then
        call('SET', TOKEN, last, 'PX', kept(string.match(last, '%d+') or 0, now))
      else
        call('DEL', TOKEN)
      end
    end
  elseif verb == 'release' then
    owner = call('GET', OWNER)
    if owner and string.find(owner, me .. ' ', 1, true) == 1 then
      -- Given up before anything else is tried: whatever fails after that, no claim is left with it.
      call('DEL', OWNER)
      if string.byte(owner, -1) ~= PLUS then
        return 1
      end
    end
  end

  owner = owner or call('GET', OWNER)
  local id, channel, label, token, sign
  if owner then
    id, channel, label, token, sign = string.match(owner, '^(%S+) (%S+) (.*) (%d+)(%+?)$')
    if not id then
      return redis.error_reply('FOREIGN ' .. OWNER)
    end
  end

  -- The lock stays taken, by a claim that is used for nothing else. The first write is one that no server refuses.
  if verb == 'keep' then
    local kept = ARGV[at + 2]
    if id ~= me and id ~= kept then
      return 0
    end
    call('PEXPIRE', OWNER, ARGV[at + 3])
    call('SET', OWNER, kept .. ' ' .. channel .. ' ' .. label .. ' ' .. token .. sign, 'KEEPTTL')
    return 1
  end

  if verb == 'release' and id ~= me then
    if call('ZREM', QUEUE, me) == 1 then
      call('HDEL', WAITERS, me)
    end
    return 0
  end
  if verb == 'force' then
    if not owner or token ~= me then -- another grant than the one to end: its owner is left alone
      return 0
    end
    call('DEL', OWNER)
  end

  if not now then
    local time = call('TIME') -- as above; a function for both would take longer to make than this
    now = (time[1] - 1577836800) * 1000000 + time[2]
  end

  local counter = redis.pcall('GET', TOKEN)
  local foreign = type(counter) == 'table' -- that is an error
  if foreign and verb ~= 'release' and verb ~= 'force' and verb ~= 'inspect' then
    return counter
  end
  local known, mark = string.match(not foreign and counter or '', '^%+?(%d+)(.*)$')
  known, mark = tonumber(known) or 0, mark or ''
  local mark_ends, watched = string.match(mark, '^ (%d+) (.*)$')
  if not mark_ends or tonumber(mark_ends) <= now then
    mark, watched = '', nil
  end
  if token then -- the counter may be gone: it does not outlast a long hold
    known = math.max(known, token)
  end

  -- The token goes first: it is the write that a server without memory refuses, and alone it takes nothing.
  local function grant(to, lease, plus)
    if foreign then
      call('GET', TOKEN) -- fails, where SET would not
    end
    known = math.max(known + 1, now)
    local text = string.format('%.0f', known)
    call('SET', TOKEN, plus .. text .. mark, 'PX', kept(known, now))
    call('SET', OWNER, to .. ' ' .. text .. plus, 'PX', lease)
    return text
  end

  -- The channels of a cluster's shards are in the slot of their lock.
  local function publish(to, message)
    call(string.find(to, '^[^:]*:shard:') and 'SPUBLISH' or 'PUBLISH', to, message)
  end

  local function tell(to, message)
    publish(string.find(to, '^[^:]*:shard:') and to .. ':' .. OWNER or to, message)
  end

  -- Has the owner's release and the next claim look for a queue and for watchers.
  local function put_sign()
    if sign ~= '+' then
      if owner then
        call('SET', OWNER, owner .. '+', 'KEEPTTL')
      end
      if counter and string.byte(counter) ~= PLUS then
        call('SET', TOKEN, '+' .. counter, 'KEEPTTL')
      end
    end
  end

  -- Whether a client listens there now; not asked where it cannot be known.
  local function is_deaf(to, deadline)
    if string.byte(deadline) ~= ZERO then
      return false
    end
    local sharded = string.find(to, '^[^:]*:shard:')
    local count = redis.pcall('PUBSUB', sharded and 'SHARDNUMSUB' or 'NUMSUB', sharded and to .. ':' .. OWNER or to)
    return type(count) == 'table' and count[2] == 0 -- an error has no such field
  end

  -- Takes the first waiter out of the queue that is alive and either asks now or hears of it, and the dead ones before
  -- it. Those that are alive and deaf keep their places. Nil if there is none, with the channel of the first deaf one;
  -- false if so many are dead that the server would be kept from others.
  local function next_waiter(asking)
    local deaf, passed, dead, first_deaf = {}, 0, 0, nil
    while passed < MOST do
      local head = call('ZREVRANGE', QUEUE, -1 - passed, -1 - passed)[1]
      if not head then
        break
      end
      local lease, deadline, who = string.match(call('HGET', WAITERS, head) or '', '^(%d+) (%d+) (%S+ .*)$')
      local alive = lease and tonumber(deadline) * 1000 > now
      local to = alive and string.match(who, '^%S+')
      if alive and head ~= asking and deaf[to] == nil then
        deaf[to] = is_deaf(to, deadline)
      end
      if alive and head ~= asking and deaf[to] then
        passed, first_deaf = passed + 1, first_deaf or to
      else
        if passed == 0 then
          call('ZPOPMIN', QUEUE)
        else
          call('ZREM', QUEUE, head)
        end
        call('HDEL', WAITERS, head)
        if alive then
          return { id = head, lease = lease, who = who, channel = to }
        end
        dead = dead + 1
        if dead == MOST then
          return false
        end
      end
    end
    return nil, first_deaf
  end

  -- No client was found that hears of it: the first is told anyway, and the newest, which is the likeliest to be there.
  local function rouse(first_deaf)
    if first_deaf then
      tell(first_deaf, 'recheck ' .. OWNER)
    end
    local newest = call('ZREVRANGE', QUEUE, 0, 0)[1]
    local to = newest and string.match(call('HGET', WAITERS, newest) or '', '^%d+ %d+ (%S+)')
    if to and to ~= first_deaf then
      tell(to, 'recheck ' .. OWNER)
    end
  end

  local function serve(waiter)
    local text = grant(waiter.id .. ' ' .. waiter.who, waiter.lease, '+')
    tell(waiter.channel, 'grant ' .. waiter.id .. ' ' .. text)
    if watched then
      publish(watched, 'acquired ' .. text .. string.sub(waiter.who, #waiter.channel + 1))
    end
  end

  -- Answers the token if it is granted; otherwise how long the owner still has and, if it was queued, the claim before it.
  local function claim(waits, ticket)
    local lease = ARGV[at + 2]
    local my_id, who = string.match(me, '^(%S+) (.*)$')
    if id == my_id then
      call('PEXPIRE', OWNER, lease)
      return tonumber(token)
    end
    local left
    if owner then
      left = call('PTTL', OWNER)
      if left < 0 then -- the expiry was taken away: nothing here may stay for ever
        call('PEXPIRE', OWNER, lease)
        left = tonumber(lease)
      end
    else
      local heeded = watched or call('EXISTS', QUEUE) == 1
      local first, first_deaf
      if heeded then
        first, first_deaf = next_waiter(my_id)
      end
      if first_deaf and call('ZREM', QUEUE, my_id) == 1 then -- its place was behind more deaf ones than were looked at
        call('HDEL', WAITERS, my_id)
      end
      if first == nil or first and first.id == my_id then
        local text = grant(me, lease, heeded and '+' or '')
        if watched then
          publish(watched, 'acquired ' .. text .. string.match(who, ' .*$'))
        end
        return known
      end
      if first then
        serve(first)
        id, sign, left = first.id, '+', tonumber(first.lease)
      else
        left = 1 -- the waiting claim asks again at once, and takes the next hundred out
      end
    end
    if not waits then
      return nil, left
    end
    put_sign()
    local last
    if not ticket then
      last = call('ZREVRANGE', QUEUE, 0, 0, 'WITHSCORES')
      ticket = string.format('%d', math.max((last[2] or 0) + 1, now)) -- also says since when it waits
    end
    local deadline = string.format(verb == 'await' and '0%d' or '%d', math.floor(now / 1000) + lease)
    local added = call('ZADD', QUEUE, 'NX', ticket, my_id)
    call('HSET', WAITERS, my_id, lease .. ' ' .. deadline .. ' ' .. who)
    if call('PTTL', QUEUE) < tonumber(lease) then -- longer than needed, so that not every waiter has to do it
      call('PEXPIRE', QUEUE, 2 * lease)
      call('PEXPIRE', WAITERS, 2 * lease)
    end
    return nil, left, last and added == 1 and (last[1] or id) or nil
  end

  if verb == 'try' then
    return claim(false) or 0
  end
  if verb == 'claim' or verb == 'await' then
    local granted, left, before = claim(true)
    return granted or { 0, left, known > 0 and known or now - 1, before } -- whatever is granted from now on is above that
  end

  -- For a quorum, with a place in the queue that is given, so that all servers agree on the order: the answer, how long this
  -- server has had its memory, and who waits longest. Uptime is a difference of whole seconds of the wall clock, so it
  -- may be one too many.
  if verb == 'vote' then
    local waits = ARGV[at + 3] == 'QUEUE'
    local granted, left = claim(waits, ARGV[at + 4])
    local server = call('INFO', 'server')
    return {
      granted and 1 or waits and 2 or 3,
      granted or left,
      string.match(server, 'run_id:(%x+)'),
      math.max(tonumber(string.match(server, 'uptime_in_seconds:(%d+)')) - 1, 0),
      tonumber(call('ZRANGE', QUEUE, 0, 0, 'WITHSCORES')[2] or -1),
    }
  end

  if verb == 'raise' then
    local wanted = ARGV[at + 2]
    if known < tonumber(wanted) then
      call('SET', TOKEN, '+' .. wanted .. mark, 'PX', kept(wanted, now))
    end
    if id ~= me or tonumber(token) > tonumber(wanted) then
      return 0
    end
    call('SET', OWNER, id .. ' ' .. channel .. ' ' .. label .. ' ' .. wanted .. sign, 'KEEPTTL')
    return 1
  end

  if verb == 'release' or verb == 'force' then
    local first, first_deaf = next_waiter()
    if watched then
      publish(watched, 'released ' .. token)
    end
    if first and not pcall(serve, first) then
      tell(first.channel, 'recheck ' .. OWNER)
    elseif first == false or first_deaf then
      rouse(first_deaf)
    end
    if verb == 'force' then
      tell(channel, 'forced ' .. id)
    end
    return 1
  end

  -- inspect, and watch, which says in the first place whether the mark was missing
  local missing = 0
  if verb == 'watch' then
    missing = watched and 0 or 1
    put_sign()
    call('SET', TOKEN, string.format('+%.0f %.0f ', known, now + WATCH_MICROS) .. me, 'PX', kept(known, now))
  end
  if not owner then
    return { missing }
  end
  local waiting = 0
  for _, waiter in ipairs(call('HVALS', WAITERS)) do
    if tonumber(string.match(waiter, '^%d+ (%d+) ') or 0) * 1000 > now then
      waiting = waiting + 1
    end
  end
  local seen = { missing, tonumber(token), math.max(call('PTTL', OWNER), 0), waiting, label, math.max(now - token, 0) }
  local first = waiting > 0 and call('ZRANGE', QUEUE, 0, MOST - 1, 'WITHSCORES') or {}
  for i = 1, #first, 2 do
    local deadline, who = string.match(call('HGET', WAITERS, first[i]) or '', '^%d+ (%d+) %S+ (.*)$')
    if deadline and tonumber(deadline) * 1000 > now then
      seen[#seen + 1] = who
      seen[#seen + 1] = math.max(now - first[i + 1], 0)
    end
  end
  return seen
end

if ARGV[1] ~= 'batch' then
  return answer(ARGV[1], 0, 1)
end

-- Several such calls, each with the number of its arguments before it. What fails is answered with its error's text and
-- leaves the others alone.
local answers, next_call = {}, 2
for i = 1, #KEYS / 4 do
  local count = tonumber(ARGV[next_call])
  local _, reply = pcall(answer, ARGV[next_call + 1], 4 * (i - 1), next_call + 1)
  next_call = next_call + count + 2
  if type(reply) == 'table' and reply.err then
    reply = reply.err
  end
  answers[i] = reply
end
return answers
