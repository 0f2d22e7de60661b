/** A shell of a new user for a test: the packed package, a home folder of its own, and what was printed, as a golden file keeps it. */
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { shellWord } from '../../src/cli/format/runnable.ts';
import { cacheFolder } from '../../src/local/folders.ts';
import { shellEnv } from '../support/local-fleet.ts';

const run = promisify(execFile);
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
  /** In the background, until the returned function ends it as Ctrl-C does. */
  start(...command: readonly string[]): () => Promise<void>;
  /** A line of the person at the keyboard. */
  note(text: string): void;
  transcript(): string;
}

export interface UserShellOptions {
  readonly home: string;
  /** Folders of the package: the first one that exists is used. */
  readonly packages: readonly string[];
  readonly patienceMs: number;
}

interface Answer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export function userShell({ home, packages, patienceMs }: UserShellOptions): UserShell {
  const lines: string[] = [];
  const own = {
    ...shellEnv(),
    KUBECONFIG: undefined,
    KUBENODE_PROGRESS: undefined,
    // In CI, and on a dumb terminal, a terminal is not used as one.
    CI: undefined,
    TERM: 'xterm',
    HOME: home,
    XDG_CACHE_HOME: join(cacheFolder(process.env), '..'),
    XDG_STATE_HOME: join(home, 'state'),
    NO_COLOR: '1',
    GIT_AUTHOR_NAME: 'Anna',
    GIT_AUTHOR_EMAIL: 'anna@example.com',
    GIT_COMMITTER_NAME: 'Anna',
    GIT_COMMITTER_EMAIL: 'anna@example.com',
  };
  const argvOf = ([program = '', ...args]: readonly string[]): readonly [string, readonly string[]] =>
    program === 'kubenode' ? [process.execPath, [installed(packages), ...args]] : [program, args];

  async function answer(command: readonly string[]): Promise<Answer> {
    const [program, args] = argvOf(command);
    try {
      return { code: 0, ...(await run(program, args, { cwd: home, env: own })) };
    } catch (error) {
      const { code, stdout, stderr } = error as Answer;
      if (typeof code !== 'number') throw error;
      return { code, stdout, stderr };
    }
  }

  function write(command: readonly string[], { code, stdout, stderr }: Answer): void {
    const shown = command.map(shellWord).join(' ');
    const end = code === 0 ? '' : `[exit code ${code}]\n`;
    lines.push(`$ ${shown}\n${stdout}${stderr.replaceAll(SLOW_STEP, '').replaceAll(TAKEN_PORT, '')}${end}`);
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
          throw new Error(`${command.join(' ')} does not print ${expected}:\n${found.stdout}${found.stderr}`);
        }
        // oxlint-disable-next-line no-await-in-loop -- the command takes most of a core
        await setTimeout(PAUSE_MS);
      }
    },
    async onTerminal(...command) {
      const [program, args] = argvOf(command);
      const line = ['stty cols 80;', ...[program, ...args].map(shellWord)].join(' ');
      return (await answer(['script', '-qec', line, '/dev/null'])).stdout.trimEnd().split(/\r?\n/);
    },
    ask: async (...command) => (await answer(command)).stdout,
    start(...command) {
      const [program, args] = argvOf(command);
      const child = spawn(program, args, { cwd: home, env: own, stdio: 'ignore' });
      const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      return async () => {
        child.kill('SIGINT');
        await ended;
      };
    },
    note: (text) => void lines.push(`# ${text}\n`),
    transcript: () => normalized(lines.join('\n'), home),
  };
}

function installed(packages: readonly string[]): string {
  const programs = packages.map((folder) => join(folder, 'bin', 'kubenode.js'));
  return programs.find((program) => existsSync(program)) ?? programs.join();
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
