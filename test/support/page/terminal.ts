/** A terminal of a person: one bash, whose variables live on from line to line, and which Ctrl-C does not end. */
import { type ChildProcess, execFileSync, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Program {
  readonly ended: Promise<Ran>;
  /** What it printed so far, on both streams. */
  output(): string;
  /** As Ctrl-C does: everything that the line runs gets the signal. */
  interrupt(): Promise<Ran>;
}

export interface Terminal {
  /** For what is interrupted later: variables that it sets are lost. */
  begin(line: string): Program;
  run(line: string): Promise<Ran>;
  /** Ends everything that was started in it, as a person would: with SIGINT. */
  close(): Promise<void>;
}

/** Starts a program as the person. */
export type StartProgram = (
  program: string,
  args: readonly string[],
  options: Pick<SpawnOptions, 'stdio' | 'cwd' | 'env'>,
) => ChildProcess;

export interface TerminalOptions {
  readonly start: StartProgram;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** A line that is run first, such as an alias. */
  readonly first?: string;
}

/** With the number of the line: what earlier lines left in the background prints, too. */
const END = 'kubenode-line-ended';
/**
 * Lines come on descriptor 3, and what they run gets none of it. With job control each line has a process group of its own, and one
 * in the background gets no Ctrl-C, as in a terminal.
 */
const LOOP = `set -m; shopt -s expand_aliases; number=0
while IFS= read -r -d '' -u 3 line; do
  eval "$line" 3<&-; end="${END} $((number += 1)) $?"
  echo "$end"; echo "$end" >&2
done`;
/** A program that hangs is killed. */
const PATIENCE_MS = 60_000;

export async function openTerminal({ start, cwd, env, first }: TerminalOptions): Promise<Terminal> {
  // A session of its own: its processes are found by it.
  const stdio: SpawnOptions['stdio'] = ['ignore', 'pipe', 'pipe', 'pipe'];
  const bash = start('setsid', ['bash', '--norc', '-c', LOOP], { stdio, cwd, env });
  const closed = once(bash, 'close');
  const [stdout, stderr] = [collect(bash, 'stdout'), collect(bash, 'stderr')];
  const lines = bash.stdio[3] as NodeJS.WritableStream;
  let number = 0;

  function enter(line: string): Program {
    const before = new Set(childrenOf(bash.pid));
    number += 1;
    const [out, error] = [stdout.next(number), stderr.next(number)];
    lines.write(`${line}\0`);
    const text = (): string => `${out.text()}${error.text()}`;
    const ended = Promise.race([
      Promise.all([out.code, error.code]),
      closed.then(() => Promise.reject(new Error(`bash ended: ${line}\n${text()}`))),
    ]).then(([code]) => ({ code, stdout: out.text(), stderr: error.text() }));
    return {
      ended,
      output: text,
      interrupt: async () => {
        signal('INT', out.hasEnded() ? [] : childrenOf(bash.pid).filter((pid) => !before.has(pid)));
        return await ended;
      },
    };
  }

  const terminal: Terminal = {
    // Without a real terminal, bash ends with a program in the foreground that ends by SIGINT.
    begin: (line) => enter(`{ ${line}\n} &\nwait $!`),
    run: (line) => enter(line).ended,
    close: async () => {
      signal('INT', groupsOf(bash.pid));
      lines.end();
      await Promise.race([closed, pause(PATIENCE_MS, undefined, { ref: false })]);
      signal('KILL', groupsOf(bash.pid));
      await closed;
    },
  };
  if (first !== undefined) await terminal.run(first);
  return terminal;
}

interface Stream {
  /** What comes from now on, up to the end of the line of that number. */
  next(number: number): Output;
}

interface Output {
  readonly code: Promise<number>;
  text(): string;
  hasEnded(): boolean;
}

function collect(child: ChildProcess, name: 'stdout' | 'stderr'): Stream {
  let text = '';
  let onData: (() => void) | undefined;
  child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    onData?.();
  });
  return {
    next(number) {
      const end = new RegExp(`(?<printed>[^]*)${END} ${number} (?<code>\\d+)\\n`);
      let found: RegExpExecArray | null = null;
      text = '';
      const code = new Promise<number>((resolve) => {
        onData = () => {
          found = end.exec(text);
          if (found) resolve(Number(found.groups?.['code']));
        };
      });
      return { code, text: () => found?.groups?.['printed'] ?? text, hasEnded: () => found !== null };
    },
  };
}

/** Leaders of their process groups: job control makes each one. */
function childrenOf(pid: number | undefined): readonly number[] {
  return processes().flatMap(([child, parent]) => (parent === pid ? [child] : []));
}

function groupsOf(session: number | undefined): readonly number[] {
  const groups = processes().flatMap(([, , group, its]) =>
    its === session && group !== session ? [group] : [],
  );
  return [...new Set(groups)];
}

type ProcessRow = readonly [pid: number, parent: number, group: number, session: number];

function processes(): readonly ProcessRow[] {
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid=,pgid=,sid='], { encoding: 'utf8' }).trim().split('\n');
  return rows.map((row) => row.trim().split(/\s+/).map(Number) as unknown as ProcessRow);
}

/** One may have ended meanwhile. */
function signal(name: string, groups: readonly number[]): void {
  for (const group of groups) {
    try {
      process.kill(-group, `SIG${name}` as NodeJS.Signals);
    } catch {}
  }
}
