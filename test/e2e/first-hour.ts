/** A shell of a new user for a test: the packed package, a home folder of its own, and what was printed, as a golden file keeps it. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { shellWord } from '../../src/cli/runnable.ts';
import { cacheFolder } from '../../src/local/folders.ts';
import { personEnv } from '../support/page/person.ts';
import { openTerminal, type Ran } from '../support/page/terminal.ts';

/** Only what takes long is printed. */
const SLOW_STEP =
  /^(starting|stopping|installing|packing|writing|rendering|comparing|building|waiting)\b.*\n/gm;
/** Another fleet on this computer took it meanwhile. */
const TAKEN_PORT = /^port \d+ is in use by another program: using .*\n/gm;
/** Between two looks at the output of a command. */
const PAUSE_MS = 500;

export interface UserShell {
  /** Runs a command, and writes it to the transcript with what it printed. */
  show(...command: readonly string[]): Promise<void>;
  /** Runs it until it prints that, and writes the last answer to the transcript. */
  showOnce(expected: RegExp, ...command: readonly string[]): Promise<void>;
  /** On a terminal of 80 columns: every line that it prints. */
  onTerminal(...command: readonly string[]): Promise<readonly string[]>;
  /** What it printed, on stdout. Nothing is written to the transcript. */
  ask(...command: readonly string[]): Promise<string>;
  /** In a second terminal, until the returned function ends it as Ctrl-C does. */
  start(...command: readonly string[]): Promise<() => Promise<void>>;
  /** A line of the person at the keyboard. */
  note(text: string): void;
  transcript(): string;
  close(): Promise<void>;
}

export interface UserShellOptions {
  readonly home: string;
  /** Folders of the package: the first one that exists is used. */
  readonly packages: readonly string[];
  readonly patienceMs: number;
}

export async function userShell({ home, packages, patienceMs }: UserShellOptions): Promise<UserShell> {
  const lines: string[] = [];
  const env = {
    ...personEnv(process.env),
    SHELL: '/bin/bash',
    HOME: home,
    XDG_CACHE_HOME: join(cacheFolder(process.env), '..'),
    XDG_STATE_HOME: join(home, 'state'),
  };
  const options = { start: spawn, cwd: home, env, first: commandOf(packages) };
  const terminal = await openTerminal(options);
  const answer = (command: readonly string[]): Promise<Ran> => terminal.run(lineOf(command));

  function write(command: readonly string[], { code, stdout, stderr }: Ran): void {
    const end = code === 0 ? '' : `[exit code ${code}]\n`;
    const printed = `${stdout}${stderr.replaceAll(SLOW_STEP, '').replaceAll(TAKEN_PORT, '')}${end}`;
    lines.push(`$ ${lineOf(command)}\n${printed}`);
  }

  return {
    show: async (...command) => write(command, await answer(command)),
    async showOnce(expected, ...command) {
      const until = performance.now() + patienceMs;
      for (;;) {
        // oxlint-disable-next-line no-await-in-loop -- one try after the other
        const found = await answer(command);
        if (expected.test(found.stdout)) return write(command, found);
        if (performance.now() > until) {
          throw new Error(`${lineOf(command)} does not print ${expected}:\n${found.stdout}${found.stderr}`);
        }
        // oxlint-disable-next-line no-await-in-loop -- the command takes most of a core
        await setTimeout(PAUSE_MS);
      }
    },
    async onTerminal(...command) {
      const printed = await answer(['script', '-qec', `stty cols 80; ${lineOf(command)}`, '/dev/null']);
      return printed.stdout.trimEnd().split(/\r?\n/);
    },
    ask: async (...command) => (await answer(command)).stdout,
    async start(...command) {
      const second = await openTerminal(options);
      second.begin(lineOf(command)).ended.catch(() => undefined);
      return () => second.close();
    },
    note: (text) => void lines.push(`# ${text}\n`),
    transcript: () => normalized(lines.join('\n'), home),
    close: () => terminal.close(),
  };
}

function lineOf(command: readonly string[]): string {
  return command.map(shellWord).join(' ');
}

/** `kubenode` is the first of the packages that exists when it is called. */
function commandOf(packages: readonly string[]): string {
  const programs = packages.map((folder) => shellWord(join(folder, 'bin', 'kubenode.js'))).join(' ');
  const first = `$(ls -d ${programs} 2>/dev/null | head -1)`;
  return `kubenode() { ${shellWord(process.execPath)} "${first}" "$@"; }; export -f kubenode`;
}

/** What differs from run to run: times, commits, ports, folders; and the widths of columns with them. */
function normalized(text: string, home: string): string {
  return text
    .replaceAll(home, '~')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>')
    .replaceAll(/sha256:[0-9a-f]+…?/g, '<digest>')
    .replaceAll(/\b[0-9a-f]{40}\b|\b[0-9a-f]{12}\b|\b[0-9a-f]{7,8}\b/g, '<commit>')
    .replaceAll(/\b(localhost|127\.0\.0\.1):\d+/g, '$1:<port>')
    .replaceAll(/\b\d+(\.\d+)?(ms|s|m|h)(\d+s)?\b/g, '<age>')
    .replaceAll(/ {2,}/g, '  ')
    .replaceAll(/[ -]+$/gm, '');
}
