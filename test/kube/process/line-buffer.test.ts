import { execFileSync, spawnSync } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createLineBuffer, type LineBuffer } from '../../../src/kube/process/line-buffer.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

describe('createLineBuffer', () => {
  it('writes the lines of a moment together, in their order', async () => {
    const { lines, clock, writes } = bed();
    lines.write('a\n');
    lines.write('b\n');
    expect(writes).toEqual([]);
    await clock.advance(10);
    expect(writes).toEqual(['a\nb\n']);
  });

  it('collects again after a write', async () => {
    const { lines, clock, writes } = bed();
    lines.write('a\n');
    await clock.advance(10);
    lines.write('b\n');
    lines.write('c\n');
    await clock.advance(10);
    expect(writes).toEqual(['a\n', 'b\nc\n']);
  });

  it('writes at once what has become long', () => {
    const { lines, writes } = bed();
    for (let count = 0; count < 40; count += 1) lines.write('x'.repeat(1000));
    expect(writes.map(({ length }) => length)).toEqual([33_000]);
  });

  it('flushes when asked, and does not write the same line again', async () => {
    const { lines, clock, writes } = bed();
    lines.write('a\n');
    lines.flush();
    lines.flush();
    await clock.advance(100);
    expect(writes).toEqual(['a\n']);
    expect(clock.sleepers).toBe(0);
  });

  it.each(['uncaughtExceptionMonitor', 'exit'])('flushes at %s', (event) => {
    const { lines, exits, writes } = bed();
    lines.write('a\n');
    exits.emit(event);
    expect(writes).toEqual(['a\n']);
  });

  it('writes each line at once from the exit on: no timer fires any more', () => {
    const { lines, exits, writes } = bed();
    exits.emit('exit');
    lines.write('a\n');
    lines.write('b\n');
    expect(writes).toEqual(['a\n', 'b\n']);
  });

  it('leaves the process alone after close, and still writes', () => {
    const { lines, exits, writes } = bed();
    lines.write('a\n');
    lines.close();
    lines.write('b\n');
    expect(writes).toEqual(['a\n', 'b\n']);
    expect(exits.eventNames()).toEqual([]);
  });
});

describe('a process that collects lines', () => {
  const first = 'write("first\\n");write("second\\n");';

  it.each([
    ['returns', ''],
    ['exits', 'process.exit(3);'],
    ['exits in a later turn', 'setImmediate(() => process.exit(3));'],
    ['throws', 'throw new Error("broken");'],
    ['rejects', 'Promise.reject(new Error("broken"));'],
  ])('loses no line when it %s', (_, end) => {
    const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program(first + end)], {
      encoding: 'utf8',
    });
    expect(stderr.split('\n').slice(0, 2)).toEqual(['first', 'second']);
    expect(stderr.includes('broken')).toBe(end.includes('broken'));
  });

  it('loses no line when its pipe is full', () => {
    const many = 'for (let i = 0; i < 20_000; i += 1) write("line " + i + "\\n");';
    const args = ['--input-type=module', '-e', program(many)];
    const output = execFileSync('sh', ['-c', '"$0" "$@" 2>&1 | cat', process.execPath, ...args]);
    const lines = output.toString().trimEnd().split('\n');
    expect(lines).toEqual(Array.from({ length: 20_000 }, (_, index) => `line ${index}`));
  });
});

function bed(): {
  readonly lines: LineBuffer;
  readonly clock: ReturnType<typeof virtualClock>;
  readonly exits: EventEmitter;
  readonly writes: string[];
} {
  const writes: string[] = [];
  const clock = virtualClock();
  const exits = new EventEmitter();
  const lines = createLineBuffer({ write: (text) => void writes.push(text), clock, exits, gatherMs: 10 });
  return { lines, clock, exits, writes };
}

function program(body: string): string {
  return `import { createLineBuffer } from ${source('kube/process/line-buffer.ts')};
import { createSystemClock } from ${source('os/system-clock.ts')};
const { write } = createLineBuffer({ write: (text) => process.stderr.write(text), clock: createSystemClock(), exits: process });
${body}`;
}

function source(path: string): string {
  return JSON.stringify(new URL(`../../../src/${path}`, import.meta.url).href);
}
