import { describe, expect, it } from 'vitest';
import { GitError, type GitErrorCode } from '../../../src/sync/git/errors.ts';
import { createGitSource, isStale, jittered, type SourceState } from '../../../src/sync/git/source.ts';
import type { GitTransport } from '../../../src/sync/git/transport.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { NOW, settle, virtualClock } from '../../support/virtual-clock.ts';

const MAIN = 'refs/heads/main';

interface Server {
  head: string | undefined;
  down: boolean;
  duringFetch?: () => void;
  /** The commits that cannot be fetched, with the code of the error. */
  readonly refused: Map<string, GitErrorCode>;
}

/** A source that polls a fake server with one branch. */
function createBed(): {
  server: Server;
  fetched: string[];
  states: SourceState[];
  clock: ReturnType<typeof virtualClock>;
  source: ReturnType<typeof createGitSource>;
  readonly start: () => Promise<() => Promise<void>>;
} {
  const server: Server = { head: 'one', down: false, refused: new Map() };
  const fetched: string[] = [];
  const states: SourceState[] = [];
  const clock = virtualClock();
  const check = (): void => {
    if (server.down) throw new GitError('Unreachable', 'the connection was refused');
  };
  const git = {
    display: 'https://git.example.com/fleet',
    listRefs: async () => {
      check();
      return new Map(server.head === undefined ? [] : [[MAIN, server.head]]);
    },
    fetch: async () => {
      check();
      if (server.head === undefined) throw new GitError('NotFoundRef', 'not found');
      const { head } = server;
      fetched.push(head);
      server.duringFetch?.();
      const code = server.refused.get(head);
      if (code) throw new GitError(code, `${head} is refused`);
      return head;
    },
  } as unknown as GitTransport;
  const source = createGitSource({
    git,
    ref: 'main',
    pollSeconds: 30,
    clock,
    random: () => 0.5,
    log: memoryLog(),
    onPoll: (state) => void states.push(state),
  });
  return { server, fetched, states, clock, source, start };

  async function start(): Promise<() => Promise<void>> {
    const abort = new AbortController();
    const running = source.run(abort.signal);
    await settle();
    return async () => {
      abort.abort();
      await running;
    };
  }
}

describe('a git source', () => {
  it('fetches a commit that timed out again only after growing delays, and another commit at once', async () => {
    const { server, fetched, clock, source, start } = createBed();
    server.refused.set('one', 'Timeout');
    const stop = await start();
    await clock.advance(30_000);
    expect(fetched).toEqual(['one']);
    expect(source.state().error).toMatchObject({ code: 'Timeout' });
    await clock.advance(30_000);
    expect(fetched).toEqual(['one', 'one']);
    await clock.advance(60_000);
    expect(fetched).toHaveLength(2);
    server.head = 'two';
    await clock.advance(30_000);
    expect(fetched).toEqual(['one', 'one', 'two']);
    expect(source.state()).toMatchObject({ head: { commit: 'two' } });
    expect(source.state().error).toBeUndefined();
    server.head = 'one';
    server.refused.clear();
    await clock.advance(30_000);
    expect(fetched.at(-1)).toBe('one');
    await stop();
  });

  it('fetches only when the ref has changed', async () => {
    const { server, fetched, clock, source, start } = createBed();
    const stop = await start();
    await clock.advance(90_000);
    server.head = 'two';
    await clock.advance(30_000);
    expect(fetched).toEqual(['one', 'two']);
    expect(source.state().head).toEqual({ commit: 'two', observedAt: clock.now() });
    await stop();
  });

  it.each(['TooLarge', 'InvalidObject'] as const)(
    'SAF-5 fetches a head that is refused as %s once, and the next one when the ref has moved',
    async (code) => {
      const { server, fetched, clock, source, start } = createBed();
      const stop = await start();
      server.refused.set('bad', code);
      server.head = 'bad';
      await clock.advance(30_000);
      const observedAt = clock.now();
      await clock.advance(90_000);
      expect(fetched).toEqual(['one', 'bad']);
      const refused = expect.objectContaining({ code, message: 'bad is refused' }) as GitError;
      expect(source.state()).toEqual({ head: { commit: 'bad', observedAt, refused }, polledAt: clock.now() });
      server.head = 'two';
      await clock.advance(30_000);
      expect(fetched).toEqual(['one', 'bad', 'two']);
      expect(source.state().head).toEqual({ commit: 'two', observedAt: clock.now() });
      await stop();
    },
  );

  it('fetches again after an error that may be over', async () => {
    const { server, fetched, clock, start } = createBed();
    const stop = await start();
    server.refused.set('two', 'Corrupt');
    server.head = 'two';
    await clock.advance(90_000);
    expect(fetched).toEqual(['one', 'two', 'two', 'two']);
    await stop();
  });

  it('pollNow() polls at once, and once for many calls', async () => {
    const { server, states, clock, source, start } = createBed();
    const stop = await start();
    server.head = 'two';
    for (let n = 0; n < 100; n += 1) source.pollNow({ person: String(n) });
    await settle();
    expect(source.state().head?.commit).toBe('two');
    expect(clock.now()).toEqual(NOW);
    expect(states).toHaveLength(2);
    expect(source.state().polledFor).toBe('99');
    // The same request again is served.
    source.pollNow({ person: '99' });
    await settle();
    expect(states).toHaveLength(2);
    await stop();
  });

  it('S25 polls at once for each new webhook, and reports no request of a person as served', async () => {
    const { server, states, source, start } = createBed();
    const stop = await start();
    server.head = 'two';
    source.pollNow({ webhook: '2030-01-01T12:00:00.000Z' });
    await settle();
    source.pollNow({ webhook: '2030-01-01T12:00:00.000Z' });
    await settle();
    expect(states).toHaveLength(2);
    expect([source.state().head?.commit, source.state().polledFor]).toEqual(['two', undefined]);
    source.pollNow({ webhook: '2030-01-01T12:00:01.000Z' });
    await settle();
    expect(states).toHaveLength(3);
    await stop();
  });

  it('does not lose a pollNow() during a poll', async () => {
    const { server, clock, source, start } = createBed();
    server.duringFetch = () => {
      server.head = 'two';
      delete server.duringFetch;
      source.pollNow({ person: 'again' });
    };
    const stop = await start();
    await settle();
    expect(source.state()).toMatchObject({ head: { commit: 'two' }, polledFor: 'again' });
    expect(clock.now()).toEqual(NOW);
    await stop();
  });

  it('reports a request as served although the poll for it failed, with the error', async () => {
    const { server, source, start } = createBed();
    const stop = await start();
    server.head = undefined;
    source.pollNow({ person: 'now' });
    await settle();
    expect(source.state()).toMatchObject({ polledFor: 'now', error: { code: 'NotFoundRef' } });
    await stop();
  });

  it('S21 keeps the last head when the ref is missing, and is stale after two intervals', async () => {
    const { server, clock, source, start } = createBed();
    const stop = await start();
    server.head = undefined;
    await clock.advance(59_000);
    expect(source.state()).toMatchObject({ head: { commit: 'one' }, error: { code: 'NotFoundRef' } });
    expect(isStale(source.state(), 30, clock.now())).toBe(false);
    await clock.advance(2_000);
    expect(isStale(source.state(), 30, clock.now())).toBe(true);
    server.head = 'one';
    await clock.advance(30_000);
    expect(source.state().error).toBeUndefined();
    expect(isStale(source.state(), 30, clock.now())).toBe(false);
    await stop();
  });

  it('keeps polling after failures, and reports since when it fails', async () => {
    const { server, states, clock, source, start } = createBed();
    server.down = true;
    const stop = await start();
    await clock.advance(300_000);
    expect(source.state()).toMatchObject({ error: { code: 'Unreachable', since: NOW } });
    expect(source.state().head).toBeUndefined();
    expect(states.length).toBeGreaterThan(5);
    server.down = false;
    await clock.advance(30_000);
    expect(source.state()).toMatchObject({ head: { commit: 'one' } });
    await stop();
  });

  it('stops when the signal is aborted during a sleep', async () => {
    const { clock, start } = createBed();
    const stop = await start();
    await stop();
    expect(clock.sleepers).toBe(0);
  });

  it('is stale before the first successful poll', () => {
    expect(isStale({}, 30, NOW)).toBe(true);
  });

  it.each([
    [30, 60, false],
    [30, 61, true],
    [1, 10, false],
    [1, 11, true],
  ])(
    'S21 with an interval of %d s and the last successful poll %d s ago, stale is %s',
    (pollSeconds, silent, stale) => {
      const polledAt = new Date(NOW.getTime() - silent * 1000);
      expect(isStale({ polledAt }, pollSeconds, NOW)).toBe(stale);
    },
  );

  it.each([
    [0, 27],
    [0.5, 30],
    [1, 33],
  ])('spreads polls by ten percent (%d)', (random, seconds) => {
    expect(jittered(30, random)).toBeCloseTo(seconds);
  });
});
