/** Starts, finds and ends the agents of instances: a process for each sandbox, and one for all simulated machines. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../os/clock.ts';
import { fileExists, PRIVATE_MODE, readFileIfExists, writeFileAtomic } from '../../os/files.ts';
import { withLock } from '../../os/lock.ts';
import { type Command, startProcess } from '../../os/process/child.ts';
import { isRunning, type ProcessIdentity } from '../../os/process/identity.ts';
import { type InstanceFolder, instanceFolder, listUids } from './folders.ts';
import { endMarked, findMarked, markedEnvironment } from './processes.ts';
import { type InstanceRecord, readRecord } from './record.ts';

/** Builds the commands that run agents. */
export interface AgentPrograms {
  /** Returns the command of one agent. Its arguments contain the folder of the host. */
  agent(options: {
    readonly machine: string;
    readonly hostFolder: string;
    readonly bootstrapFile: string;
  }): Command;
  /** Returns the command that runs an agent for each simulated instance below the folder, from its creation to its end. */
  simulator(machines: string): Command;
  /** Returns the boot file of a sandbox, which has booted when the file exists. */
  bootFile(hostFolder: string): string;
}

export interface AgentsOptions {
  readonly machines: string;
  readonly programs: AgentPrograms;
  readonly clock: Clock;
}

type Known = Pick<InstanceRecord, 'type' | 'machine'>;

export interface Agents {
  isRunning(folder: InstanceFolder, known: Known): Promise<boolean>;
  /** Starts the agent. It does nothing when the agent runs, or when the instance is powered off. */
  start(folder: InstanceFolder, known: Known): Promise<void>;
  /** Ends the agent, and all other processes of the sandbox too. */
  end(folder: InstanceFolder): Promise<void>;
  /** Ends the process of all simulated agents when none is left. */
  endUnusedSimulator(signal: AbortSignal): Promise<void>;
}

interface AgentProcess {
  readonly mark: string;
  /** An argument in the command line of the agent, and of no other process with that mark. */
  readonly argument: string;
  readonly identityFile: string;
  readonly logFile: string;
  readonly command: Command;
}

export function createAgents({ machines, programs, clock }: AgentsOptions): Agents {
  function processOf(folder: InstanceFolder, { type, machine }: Known): AgentProcess {
    if (type === 'simulated') return simulator();
    const { path, hostFolder, agentFile, logFile, bootstrapFile } = folder;
    const command = programs.agent({ machine, hostFolder, bootstrapFile });
    return { mark: path, argument: hostFolder, identityFile: agentFile, logFile, command };
  }

  function simulator(): AgentProcess {
    return {
      mark: machines,
      argument: machines,
      identityFile: join(machines, '.simulator.json'),
      logFile: join(machines, '.simulator.log'),
      command: programs.simulator(machines),
    };
  }

  return {
    async isRunning(folder, known) {
      return !(await fileExists(folder.offFile)) && (await findAgent(processOf(folder, known)));
    },
    async start(folder, known) {
      if (await fileExists(folder.offFile)) return;
      const agent = processOf(folder, known);
      if (known.type === 'sandbox') await startOne(agent);
      else await withLock(simulatorLock(machines), {}, () => startOne(agent));
    },
    async end(folder) {
      await endMarked(folder.path, clock);
      await rm(programs.bootFile(folder.hostFolder), { force: true });
    },
    async endUnusedSimulator(signal) {
      await withLock(simulatorLock(machines), { signal }, async () => {
        if (await hasSimulated(machines)) return;
        await endMarked(machines, clock);
        await rm(simulator().identityFile, { force: true });
      });
    },
  };
}

async function startOne(agent: AgentProcess): Promise<void> {
  if (await findAgent(agent)) return;
  const command = { ...agent.command, env: markedEnvironment(agent.mark) };
  const identity = await startProcess(command, agent.logFile);
  await writeFileAtomic(agent.identityFile, JSON.stringify(identity), PRIVATE_MODE);
}

/**
 * Finds the agent by the identity that was written, or else among all processes: the process that started it may have been killed before it
 * wrote.
 */
async function findAgent({ mark, argument, identityFile }: AgentProcess): Promise<boolean> {
  const text = await readFileIfExists(identityFile);
  if (text !== undefined && isRunning(JSON.parse(text) as ProcessIdentity)) return true;
  return (await findMarked(mark)).some(({ command }) => command.includes(argument));
}

async function hasSimulated(machines: string): Promise<boolean> {
  for (const uid of await listUids(machines)) {
    const record = await readRecord(instanceFolder(machines, uid)).catch(() => undefined);
    if (record?.type === 'simulated') return true;
  }
  return false;
}

function simulatorLock(machines: string): string {
  return `kubenode simulated machines ${machines}`;
}
