import { spawn } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { noProcessWith, processesWith } from '../processes.ts';
import { openTerminal, type Program, type Terminal } from './terminal.ts';

const ENDS_WITH_7 =
  'process.on("SIGINT", () => process.exit(7)); setInterval(() => undefined, 1000); console.log("it runs")';

describe('a terminal', () => {
  const terminals: Terminal[] = [];
  afterEach(async () => {
    await Promise.all(terminals.splice(0).map((terminal) => terminal.close()));
  });

  async function open(first?: string): Promise<Terminal> {
    const start: typeof spawn = spawn;
    const terminal = await openTerminal({
      start,
      cwd: '/',
      env: process.env,
      ...(first === undefined ? {} : { first }),
    });
    terminals.push(terminal);
    return terminal;
  }

  it('keeps variables and the folder, and has what each line printed and its exit code', async () => {
    const terminal = await open();
    expect(await terminal.run('M=$(echo one); cd /tmp')).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await terminal.run('echo "$M $PWD"; printf no-end >&2; false')).toEqual({
      code: 1,
      stdout: 'one /tmp\n',
      stderr: 'no-end',
    });
  });

  it('knows an alias of its first line, also in a substitution', async () => {
    const terminal = await open('alias kubenode="echo aliased"');
    expect((await terminal.run('X=$(kubenode status); echo "$X"')).stdout).toBe('aliased status\n');
  });

  it.each([
    ['by the signal', 'RUN sleep 600', 130],
    ['as it wants', `'${process.execPath}' -e '${ENDS_WITH_7}'`, 7],
  ])('goes on after Ctrl-C of a program that ends %s', async (_, line, code) => {
    const terminal = await open();
    const program = await running(terminal, line);
    expect((await program.interrupt()).code).toBe(code);
    expect((await terminal.run('echo on')).stdout).toBe('on\n');
  });

  it('interrupts no program in the background, and ends it when it is closed', async () => {
    const terminal = await open();
    const mark = `terminal-test-${process.pid}`;
    await terminal.run(`MARK=${mark} sleep 600 &`);
    const program = await running(terminal, 'RUN sleep 600');
    await program.interrupt();
    expect(processesWith(mark)).toHaveLength(1);
    await terminal.close();
    await expect(noProcessWith(mark)).resolves.toBeUndefined();
  });
});

async function running(terminal: Terminal, line: string): Promise<Program> {
  const program = terminal.begin(line.replace('RUN', 'echo it runs; '));
  await eventually(async () => program.output().includes('it runs') || undefined, `${line} does not run`);
  return program;
}
