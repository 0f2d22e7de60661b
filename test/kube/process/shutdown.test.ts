import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  createShutdown,
  listenForStopSignals,
  type SignalSource,
  type StopSignal,
} from '../../../src/kube/process/shutdown.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

function signals(): {
  source: SignalSource;
  send: (signal: StopSignal) => void;
  exits: number[];
  left: () => number;
} {
  const emitter = new EventEmitter();
  const exits: number[] = [];
  return {
    source: {
      on: (signal, listener) => emitter.on(signal, listener),
      off: (signal, listener) => emitter.off(signal, listener),
      exit: (code) => exits.push(code),
    },
    send: (signal) => emitter.emit(signal, signal),
    exits,
    left: () => emitter.listenerCount('SIGTERM') + emitter.listenerCount('SIGINT'),
  };
}

describe('listenForStopSignals', () => {
  it.each<StopSignal>(['SIGTERM', 'SIGINT'])('aborts on the first %s', (signal) => {
    const { source, send, exits } = signals();
    const until = listenForStopSignals(source, memoryLog());
    expect(until.signal.aborted).toBe(false);
    send(signal);
    expect(until.signal.reason).toMatchObject({ name: 'Stopped', signal });
    expect(exits).toEqual([]);
  });

  it.each<[first: StopSignal, second: StopSignal, code: number]>([
    ['SIGTERM', 'SIGTERM', 143],
    ['SIGINT', 'SIGINT', 130],
    ['SIGINT', 'SIGTERM', 143],
  ])('ends at once on %s and then %s', (first, second, code) => {
    const { source, send, exits } = signals();
    listenForStopSignals(source, memoryLog());
    send(first);
    send(second);
    expect(exits).toEqual([code]);
  });

  it('removes its listeners', () => {
    const { source, left } = signals();
    const until = listenForStopSignals(source, memoryLog());
    expect(left()).toBe(2);
    until.stop();
    expect(left()).toBe(0);
  });
});

describe('createShutdown', () => {
  it('stops in reverse order, one after the other', async () => {
    const clock = virtualClock();
    const journal: string[] = [];
    const down = createShutdown({ clock, log: memoryLog() });
    for (const name of ['health', 'lease', 'controllers']) {
      down.add(name, async () => {
        journal.push(`${name} begins`);
        await clock.sleep(10);
        journal.push(`${name} ends`);
      });
    }
    const stopped = down.run();
    await clock.advance(100);
    expect(await stopped).toEqual([]);
    expect(clock.sleepers).toBe(0);
    expect(journal).toEqual([
      'controllers begins',
      'controllers ends',
      'lease begins',
      'lease ends',
      'health begins',
      'health ends',
    ]);
  });

  it('continues after a failed step, and returns its name', async () => {
    const log = memoryLog();
    const down = createShutdown({ clock: virtualClock(), log });
    let stopped = false;
    down.add('first', () => {
      stopped = true;
      return Promise.resolve();
    });
    down.add('second', () => Promise.reject(new Error('no')));
    down.add('third', () => {
      throw new Error('at once');
    });
    expect(await down.run()).toEqual(['third', 'second']);
    expect(stopped).toBe(true);
    expect(await down.run()).toEqual(['third', 'second']);
    expect(log.lines.map(({ message, fields }) => [message, fields['step']])).toEqual([
      ['shutdown step failed', 'third'],
      ['shutdown step failed', 'second'],
    ]);
  });

  it('aborts the deadline of a step at its time limit', async () => {
    const clock = virtualClock();
    const down = createShutdown({ clock, log: memoryLog(), stepMs: 100 });
    let deadline: AbortSignal | undefined;
    down.add('hangs', (signal) => {
      deadline = signal;
      return new Promise(() => {});
    });
    const stopped = down.run();
    await clock.advance(99);
    expect(deadline?.aborted).toBe(false);
    await clock.advance(1);
    expect(deadline?.aborted).toBe(true);
    expect(await stopped).toEqual(['hangs']);
  });

  it('keeps the total limit, and still starts every step', async () => {
    const clock = virtualClock();
    const down = createShutdown({ clock, log: memoryLog(), totalMs: 250, stepMs: 100 });
    const started: string[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      down.add(name, () => {
        started.push(name);
        return new Promise(() => {});
      });
    }
    const stopped = down.run();
    await clock.advance(250);
    expect(await stopped).toEqual(['e', 'd', 'c', 'b', 'a']);
    expect(started).toEqual(['e', 'd', 'c', 'b', 'a']);
    expect(clock.monotonicMs()).toBe(250);
  });

  it('runs only once', async () => {
    const down = createShutdown({ clock: virtualClock(), log: memoryLog() });
    let count = 0;
    down.add('once', () => {
      count += 1;
      return Promise.resolve();
    });
    await Promise.all([down.run(), down.run()]);
    await down.run();
    expect(count).toBe(1);
  });

  it.each<[signals: StopSignal[], want: { code: number | null; out: string }]>([
    [['SIGTERM'], { code: 0, out: 'up down ' }],
    [['SIGINT', 'SIGINT'], { code: 130, out: 'up down ' }],
  ])('ends a real process that is sent %j', async (sent, want) => {
    const module = new URL('../../../src/', import.meta.url).href;
    const hang = sent.length > 1 ? 'await new Promise(() => setInterval(() => {}, 1000));' : '';
    const program = `
      import { listenForStopSignals, createShutdown } from '${module}kube/process/shutdown.ts';
      import { createSystemClock } from '${module}os/system-clock.ts';
      const log = { debug() {}, info() {}, warn() {}, error() {}, with: () => log };
      const until = listenForStopSignals(process, log);
      const down = createShutdown({ clock: createSystemClock(), log });
      down.add('x', async () => { process.stdout.write('down '); ${hang} });
      const alive = setInterval(() => {}, 1000);
      until.signal.addEventListener('abort', async () => { await down.run(); clearInterval(alive); until.stop(); });
      process.stdout.write('up ');`;
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    const ended = once(child, 'close');
    const rest = [...sent];
    child.stdout.on('data', (data: Buffer) => {
      out += data.toString();
      const signal = rest.shift();
      if (signal) child.kill(signal);
    });
    const [code] = (await ended) as [number | null];
    expect({ code, out }).toEqual(want);
  });
});
