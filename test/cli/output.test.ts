import { describe, expect, it } from 'vitest';
import { CliError, describeError, EXIT } from '../../src/cli/errors.ts';
import { wantsColor } from '../../src/cli/io.ts';
import { formatTable, print } from '../../src/cli/output.ts';
import { withProgress } from '../../src/cli/progress.ts';
import { KubeError } from '../../src/kube/client/errors.ts';
import { testIo } from '../support/test-io.ts';
import { virtualClock } from '../support/virtual-clock.ts';

describe('formatTable', () => {
  it('aligns columns by their widest cell and leaves no blanks at the end of a line', () => {
    const text = formatTable({
      columns: ['name', 'state'],
      rows: [
        ['a-long-name', 'Ready'],
        ['b', ''],
      ],
    });
    expect(text).toBe('NAME          STATE\na-long-name   Ready\nb\n');
  });

  it('says what is not there instead of a head without rows', () => {
    expect(formatTable({ columns: ['name'], rows: [], empty: 'no clusters' })).toBe('no clusters\n');
  });
});

const table = (): { columns: string[]; rows: string[][] } => ({ columns: ['name'], rows: [['a']] });

describe('print', () => {
  it.each([
    ['table', 'NAME\na\n'],
    ['json', '{\n  "name": "a",\n  "number": "0777"\n}\n'],
    ['yaml', 'name: a\nnumber: "0777"\n'],
  ] as const)('as %s', (format, text) => {
    const io = testIo();
    print(io, format, { name: 'a', number: '0777' }, table);
    expect(io.stdout).toBe(text);
  });
});

describe('describeError', () => {
  it.each<[name: string, error: unknown, text: string, exitCode: number]>([
    [
      'what, where and the way out',
      new CliError('no such file', { where: 'a.yaml', hint: 'check the path', exitCode: EXIT.badInput }),
      'error: no such file\n  where: a.yaml\n  what to do: check the path',
      65,
    ],
    [
      'an error of the API by its code',
      new KubeError('Forbidden', 'get Node n1: forbidden'),
      'error: get Node n1: forbidden\n  what to do: ask for the right, or use a context whose user has it (kubectl auth can-i --list)',
      77,
    ],
    [
      'a server that is down',
      new KubeError('Unreachable', 'connect ECONNREFUSED'),
      'error: connect ECONNREFUSED\n  what to do: check that the server runs and that --kubeconfig and --context name it',
      69,
    ],
    [
      'an error of another part that knows its way out',
      Object.assign(new Error('port 1 is taken'), { hint: 'name another port' }),
      'error: port 1 is taken\n  what to do: name another port',
      1,
    ],
    [
      'all of several',
      new AggregateError([new Error('one'), new CliError('two')], 'two failed'),
      'error: two failed\nerror: one\nerror: two',
      1,
    ],
    ['what is no error at all', 'a string', 'error: a string', 1],
  ])('says %s', (_name, error, text, exitCode) => {
    expect(describeError(error)).toEqual({ text, exitCode });
  });
});

describe('wantsColor', () => {
  it.each([
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: '1' }, true, false],
    [{ NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ TERM: 'dumb' }, true, false],
  ])('%o on a terminal: %s', (env, isTerminal, color) => {
    expect(wantsColor(env, isTerminal)).toBe(color);
  });
});

describe('withProgress', () => {
  it('says nothing of work that is done within a second', async () => {
    const io = testIo({ clock: virtualClock() });
    await withProgress(io, async (progress) => progress.step('quick'));
    expect(io.stderr).toBe('');
  });

  it('shows the step that began in the quiet second, and each later one, as lines where nobody watches', async () => {
    const clock = virtualClock();
    const io = testIo({ clock });
    await withProgress(io, async (progress) => {
      progress.step('first');
      await clock.advance(1500);
      progress.step('second');
      progress.step('second');
    });
    expect(io.stderr).toBe('first\nsecond\n');
  });

  it('writes over one line for a person, and leaves a clean one, also after a failure', async () => {
    const clock = virtualClock();
    const io = testIo({ clock, interactive: true });
    const work = withProgress(io, async (progress) => {
      progress.step('first');
      await clock.advance(1500);
      throw new Error('broken');
    });
    await expect(work).rejects.toThrow('broken');
    expect(io.stderr).toContain('first');
    expect(io.stderr).not.toContain('\n');
    expect(io.stderr.endsWith('\r\u001B[2K')).toBe(true);
  });
});
