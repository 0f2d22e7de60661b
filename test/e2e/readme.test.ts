/** The commands of README.md, as printed and in its order, by a user who ran `npm start` before. */
import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { endMachines } from '../../src/cli/commands/local/machines-folder.ts';
import { stopLocalFleet } from '../../src/local/fleet.ts';
import { stateFolder } from '../../src/local/folders.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { eventually } from '../support/eventually.ts';
import { openRootless, type Rootless } from '../support/rootless.ts';

const WATCHED = /\bprod\b.*\bProven\b/;
const SECTION = 'Watch a commit go through a fleet';
// npm tells the programs that it starts about itself: not what a shell of a person has.
const PERSON =
  'unset ${!npm_@}; export GIT_AUTHOR_NAME=Anna GIT_COMMITTER_NAME=Anna EMAIL=anna@example.com KUBECONFIG=';

describe('README.md', () => {
  const clock = createSystemClock();
  const running: Program[] = [];
  let user: Rootless;
  let checkout: string;
  let dir: string;

  beforeAll(() => {
    user = openRootless('readme', inject('controlPlaneRun').binaries);
    checkout = join(dirname(user.main), '../..');
    dir = stateFolder({ HOME: join(checkout, '../home') });
  });
  afterAll(async () => {
    await Promise.all(running.map(({ interrupt }) => interrupt()));
    await endMachines(dir, clock);
    await stopLocalFleet({ dir, clock, onStep: () => undefined, wipe: true });
  });

  it(`leads through "${SECTION}" on a machine where npm start ran`, async () => {
    const start = begin('npm start');
    await expect.poll(() => start.output()).toContain('A hub and three clusters are running');
    await expect.poll(() => start.output()).toMatch(/ {2}pipeline fleet /);
    await start.interrupt();

    const commands = commandsOf(SECTION);
    expect(commands.length).toBeGreaterThan(8);
    const ends: string[] = [];
    // oxlint-disable-next-line no-await-in-loop -- in the order of the page
    for (const command of commands) ends.push(`${command}: ${await follow(command)}`);
    expect(ends).toEqual(commands.map((command) => `${command}: ${endOf(command)}`));
    expect(user.run('ls', [dirname(checkout)]).split('\n')).toContain('kubenode-demo');
  });

  /** What a person does with a line of the page: those that run until Ctrl-C are left running, or watched until prod is there. */
  async function follow(command: string): Promise<End | null> {
    const program = begin(command);
    if (command.includes('kubenode sync ')) return 'runs';
    if (command.includes('--watch')) {
      const isThere = async (): Promise<true | undefined> => WATCHED.test(program.output()) || undefined;
      await eventually(isThere, `no ${WATCHED} in the output of ${command}`);
      await program.interrupt();
      return 'Ctrl-C';
    }
    const code = await program.ended;
    if (code !== endOf(command)) throw new Error(`${command}: exit code ${code}\n${program.output()}`);
    if (/ (?:commit -am|revert) /.test(command)) await provenEverywhere();
    return code;
  }

  async function provenEverywhere(): Promise<void> {
    const head = (await answer('git -C ../my-fleet rev-parse HEAD')).trim();
    const found = async (): Promise<unknown> => {
      // It ends with 2 while a commit is on its way.
      const { clusters } = JSON.parse(await answer('npx kubenode status -o json')) as {
        clusters: readonly Record<string, string>[];
      };
      return clusters.map(({ state, commit }) => `${state} ${commit}`);
    };
    await expect.poll(found).toEqual(Array.from({ length: 3 }, () => `Proven ${head}`));
  }

  async function answer(command: string): Promise<string> {
    const program = begin(command);
    await program.ended;
    return program.stdout();
  }

  interface Program {
    readonly ended: Promise<number | null>;
    readonly output: () => string;
    readonly stdout: () => string;
    /** As Ctrl-C does: everything that the line started gets the signal. Resolves to the exit code. */
    readonly interrupt: () => Promise<number | null>;
  }

  function begin(line: string): Program {
    // A session of its own, which has its processes in one group.
    const script = `cd ${checkout}; ${PERSON}; ${line}`;
    const child: ChildProcess = user.start('setsid', ['bash', '-c', script], ['ignore', 'pipe', 'pipe']);
    let [output, stdout] = ['', ''];
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      stdout += chunk.toString();
    });
    child.stderr?.on('data', (chunk: Buffer) => void (output += chunk.toString()));
    const ended = once(child, 'close').then(([code]) => code as number | null);
    const interrupt = async (): Promise<number | null> => {
      if (child.exitCode === null && child.signalCode === null) {
        execFileSync('kill', ['-INT', '--', `-${child.pid}`]);
      }
      return await ended;
    };
    const program = { ended, interrupt, output: () => output, stdout: () => stdout };
    running.push(program);
    return program;
  }
});

type End = number | 'runs' | 'Ctrl-C';

/** A plan that has changes ends with 2. */
function endOf(command: string): End {
  if (command.includes('kubenode sync ')) return 'runs';
  if (command.includes('--watch')) return 'Ctrl-C';
  return command.includes('kubenode plan ') ? 2 : 0;
}

/** The lines of its shell blocks, without comments. */
function commandsOf(section: string): readonly string[] {
  const [, rest = ''] = readFileSync('README.md', 'utf8').split(`\n## ${section}\n`);
  const [text = ''] = rest.split('\n## ');
  const blocks = [...text.matchAll(/```sh\n(?<lines>[^`]*)```/g)];
  return blocks
    .flatMap(({ groups }) => (groups?.['lines'] ?? '').trim().split('\n'))
    .map((line) => line.replace(/\s+# .*$/, ''));
}
