/** A host in memory with two GPUs: its kernel log is given, and what stands for nvidia-smi is a real program, which runs to its end at once. */
import { spawnSync } from 'node:child_process';
import type { MemoryHost } from '../../../src/agent/host/memory/host.ts';
import type { Host, HostProcesses, RunResult } from '../../../src/agent/host/port.ts';
import { GPU_DIRECTORY, JOBS_CONFIG_FILE } from '../../../src/agent/layout.ts';
import { tempFolder } from '../temp.ts';
import { ADDRESSES, type SmiAnswers, type SmiProgram, writeSmi } from './nvidia-smi.ts';

export interface GpuHost {
  readonly host: Host;
  readonly smi: SmiProgram;
}

export interface GpuErrors extends SmiAnswers {
  /** The addresses of GPUs with an error, each with code 48 a minute ago. */
  readonly errors?: readonly string[];
}

/** The host keeps everything else that `memory` has, such as its files. */
export async function withGpus(
  memory: MemoryHost,
  now: Date,
  { errors = [ADDRESSES[0]], ...answers }: GpuErrors = {},
): Promise<GpuHost> {
  const smi = writeSmi(tempFolder('gpu'), answers);
  for (const address of ADDRESSES) await memory.files.makeDirectory(`${GPU_DIRECTORY}/${address}.0`);
  const config = JSON.stringify({ nvidiaSmi: smi.path });
  await memory.files.write(JOBS_CONFIG_FILE, new TextEncoder().encode(config), {
    mode: '0644',
    owner: 'root:root',
  });
  const log = errors.map((address) => kernelLine(address, now)).join('\n');
  const run: HostProcesses['run'] = async (argv) => {
    const [program = '', ...args] = argv;
    if (program === 'journalctl') return result(0, args.includes('--list-boots') ? '' : log);
    return program === smi.path ? runProgram(program, args) : result(0, '');
  };
  const capabilities = { ...memory.capabilities, programs: true };
  return { host: { ...memory, capabilities, processes: { ...memory.processes, run } }, smi };
}

function kernelLine(address: string, now: Date): string {
  const at = new Date(now.getTime() - 60_000);
  return JSON.stringify({
    __CURSOR: 's=1',
    __REALTIME_TIMESTAMP: `${at.getTime()}000`,
    MESSAGE: `NVRM: Xid (PCI:${address}): 48, pid=77, An uncorrectable double bit error`,
  });
}

function runProgram(program: string, args: readonly string[]): RunResult {
  const { status, signal, stdout, stderr } = spawnSync(program, [...args], { encoding: 'utf8' });
  return status === null
    ? { signal: signal ?? 'unknown', timedOut: false, output: stdout, truncated: false }
    : result(status, `${stdout}${stderr}`);
}

function result(exitCode: number, output: string): RunResult {
  return { exitCode, timedOut: false, output, truncated: false };
}
