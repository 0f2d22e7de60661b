import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { createDisplay, type Presentation } from '../../../src/cli/live/display.ts';
import { printableStream } from '../../../src/kube/objects/printable.ts';
import { testIo } from '../../support/test-io.ts';

interface Counter {
  readonly count: number;
  /** Changes without being a change. */
  readonly age: number;
}

const COUNTER: Presentation<Counter> = {
  label: () => 'counter',
  changes: (before, { count }) => (before?.count === count ? [] : [`count ${count}`]),
  frame: ({ count, age }) => [{ text: `count ${count}` }, { text: `${age}s`, tone: 'busy' }],
  compared: ({ count }) => count,
};
const SCREEN = { columns: 80, rows: 24 };
const STATES: readonly Counter[] = [
  { count: 1, age: 0 },
  { count: 1, age: 1 },
  { count: 2, age: 0 },
];

function showAll(io: ReturnType<typeof testIo>, output: 'table' | 'json' | 'yaml'): void {
  const display = createDisplay(io, output, COUNTER);
  for (const state of STATES) display.show(state, undefined);
}

describe('createDisplay', () => {
  it('goes back over exactly the lines of the frame before, on a terminal', () => {
    const io = testIo({ screen: SCREEN });
    showAll(io, 'table');
    const back = '\r\u001B[2A\u001B[J';
    expect(io.stdout).toBe(`count 1\n0s\n${back}count 1\n1s\n${back}count 2\n0s\n`);
    expect(printableStream(io.stdout)).toBe(io.stdout);
  });

  it('colors only a terminal, and only where colors are allowed', () => {
    const colored = testIo({ screen: SCREEN, color: true });
    showAll(colored, 'table');
    expect(colored.stdout).toContain('\u001B[33m0s\u001B[39m');
    const piped = testIo({ color: true });
    showAll(piped, 'table');
    expect(piped.stdout).not.toContain('\u001B');
  });

  it('writes only changed lines where stdout is not a terminal', () => {
    const io = testIo();
    showAll(io, 'table');
    expect(io.stdout).toBe('count 1\ncount 2\n');
  });

  it('writes one JSON document a line for each change', () => {
    const io = testIo({ screen: SCREEN });
    showAll(io, 'json');
    expect(io.stdout).toBe('{"count":1,"age":0}\n{"count":2,"age":0}\n');
  });

  it('separates YAML documents, as kubectl does', () => {
    const io = testIo();
    showAll(io, 'yaml');
    const documents = parseAllDocuments(io.stdout).map((each) => each.toJS() as unknown);
    expect(documents).toEqual([STATES[0], STATES[2]]);
  });

  it.each(['table', 'json'] as const)(
    'says once that the connection is lost, and when it is back: %s',
    (output) => {
      const io = testIo();
      const display = createDisplay(io, output, COUNTER);
      const state = { count: 1, age: 0 };
      for (const stale of [undefined, 'retrying', 'retrying', undefined]) display.show(state, stale);
      expect(io.stderr).toBe('counter: retrying\ncounter: the server answers again\n');
    },
  );
});
