/** A person who reads the guides: a user without root in the folder of kubenode, with the programs and the alias that they ask for. */
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { endMachines } from '../../../src/cli/local/machines-folder.ts';
import { stopLocalFleet } from '../../../src/local/fleet.ts';
import { stateFolder } from '../../../src/local/folders.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { processesWith } from '../processes.ts';
import { openRootless, type Rootless } from '../rootless.ts';
import type { TerminalOptions } from './terminal.ts';

export interface Person {
  readonly user: Rootless;
  readonly terminal: TerminalOptions;
  /** Ends the fleet, and what is left of the programs that were started. */
  leave(): Promise<void>;
}

/** `tarball`: see openRootless. */
export function createPerson(name: string, binaries: string, tarball?: string): Person {
  const user = openRootless(name, binaries, tarball);
  const { checkout, home } = user;
  // Beside the folder of the user, who may not write into it.
  const bin = join(home, '../bin');
  mkdirSync(bin);
  symlinkSync(join(home, '../programs/kubectl'), join(bin, 'kubectl'));
  return {
    user,
    terminal: { start: user.spawn, cwd: checkout, env: personEnv(user.env, bin), first: aliasOfReadme() },
    async leave() {
      const [dir, clock] = [stateFolder({ HOME: home }), createSystemClock()];
      await endMachines(dir, clock);
      await stopLocalFleet({ dir, clock, onStep: () => undefined, wipe: true });
      for (const pid of processesWith(home)) end(pid);
    },
  };
}

/** npm tells the programs that it starts about itself, and CI about itself: not what a shell of a person has. */
export function personEnv(env: NodeJS.ProcessEnv, bin?: string): NodeJS.ProcessEnv {
  const own = Object.entries(env).filter(
    ([name]) => !/^(?:npm_|CI$|KUBECONFIG$|KUBENODE_PROGRESS$)/.test(name),
  );
  return {
    ...Object.fromEntries(own),
    ...(bin === undefined ? {} : { PATH: [bin, env['PATH']].join(delimiter) }),
    NO_COLOR: '1',
    TERM: 'xterm',
    GIT_AUTHOR_NAME: 'Anna',
    GIT_AUTHOR_EMAIL: 'anna@example.com',
    GIT_COMMITTER_NAME: 'Anna',
    GIT_COMMITTER_EMAIL: 'anna@example.com',
  };
}

/** As README.md prints it. */
function aliasOfReadme(): string {
  const alias = /`(?<line>alias kubenode=[^`]+)`/.exec(readFileSync('README.md', 'utf8'))?.groups?.['line'];
  if (alias === undefined) throw new Error('README.md has no alias for kubenode');
  return alias;
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {}
}
