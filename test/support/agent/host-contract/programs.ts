/** Programs that run to their end, and what units print. A host that runs none takes each for one that works. */
import { describe, expect, it } from 'vitest';
import type { RunLimits } from '../../../../src/agent/host/port.ts';
import { eventually } from '../../eventually.ts';
import { type ContractBed, execOf, UNIT } from './bed.ts';

const PRETENDED = { exitCode: 0, timedOut: false, output: '', truncated: false };
const LIMITS = { timeoutMs: 20_000, maxOutputBytes: 1000 };

export function describePrograms(bed: ContractBed): void {
  describeRuns(bed, 'of the agent', LIMITS);
  describeRuns(bed, 'of the host', { ...LIMITS, rights: {} });
  describePrintedLines(bed);
}

function describeRuns(bed: ContractBed, rights: string, usual: RunLimits): void {
  function run(script: string, limits: Partial<RunLimits> = {}): ReturnType<typeof bed.host.processes.run> {
    return bed.host.processes.run(['/bin/sh', '-c', script], { ...usual, ...limits });
  }

  /** What real programs give. */
  function expected<T>(result: T): T | typeof PRETENDED {
    return bed.host.capabilities.programs ? result : PRETENDED;
  }

  describe(`programs with the rights ${rights}`, () => {
    it('gives exit code and output of both streams', async () => {
      expect(await run('echo out; echo err >&2; exit 3')).toEqual(
        expected({ exitCode: 3, timedOut: false, output: 'out\nerr\n', truncated: false }),
      );
    });

    it('passes arguments as they are', async () => {
      const words = ['a b', '$HOME', '${HOME}', '$$', '%n', '"', "'", ''];
      const argv = ['/bin/sh', '-c', 'for each in "$@"; do echo "[$each]"; done', 'sh', ...words];
      const output = words.map((each) => `[${each}]\n`).join('');
      expect(await bed.host.processes.run(argv, usual)).toEqual(expected({ ...PRETENDED, output }));
    });

    it('AGT-53 gives no more output than the limit', async () => {
      expect(await run('echo 1234567890; echo more', { maxOutputBytes: 5 })).toEqual(
        expected({ exitCode: 0, timedOut: false, output: '12345', truncated: true }),
      );
    });

    it('gives no output of stderr where only stdout is asked for', async () => {
      expect(await run('echo out; echo err >&2; exit 1', { onlyStdout: true })).toEqual(
        expected({ exitCode: 1, timedOut: false, output: 'out\n', truncated: false }),
      );
    });

    it('names the signal that ended a program', async () => {
      expect(await run('kill -TERM $$')).toMatchObject(expected({ signal: 'SIGTERM', timedOut: false }));
    });

    it('AGT-53 kills a program that ignores signals at its time limit', async () => {
      expect(
        await run('trap "" TERM INT; echo begun; sleep 60 & wait; sleep 60', { timeoutMs: 1000 }),
      ).toMatchObject(expected({ signal: 'SIGKILL', timedOut: true, output: 'begun\n' }));
    });

    it('reports a program that does not exist as a shell does', async () => {
      const result = await bed.host.processes.run(['/none/at/all'], usual);
      expect(result.exitCode).toBe(bed.host.capabilities.programs ? 127 : 0);
    });

    it('AGT-53 limits the processes and the memory of a program, where the host can', async () => {
      const { limits } = bed.host.capabilities;
      const fork = 'n=0; while [ $n -lt 400 ]; do sleep 5 & n=$((n+1)); done 2>&1; echo "forked $n"; kill 0';
      const forked = await run(fork, { timeoutMs: 20_000, maxOutputBytes: 100_000 });
      expect(forked.output.includes('Cannot fork')).toBe(limits);
      // Half a gigabyte in one process.
      const grown = await run(limits ? 'head -c 500000000 /dev/zero | tail >/dev/null' : 'exit 0');
      expect(grown.exitCode === 0).toBe(!limits);
    });
  });
}

function describePrintedLines(bed: ContractBed): void {
  describe('what a unit prints', () => {
    it('AGT-61 has the last lines that a unit printed, without secrets', async () => {
      const script = 'echo first; echo "password: hunter2hunter2"; exec sleep 600';
      const printing = bed.unit({ exec: execOf(['/bin/sh', '-c', script]) });
      await bed.host.units.write(printing);
      await bed.host.units.start(UNIT);
      if (!bed.host.capabilities.programs) return;
      const tail = await eventually(async () => {
        const text = await bed.host.units.logTail(UNIT, 1000);
        return text.includes('***') ? text : undefined;
      }, 'nothing printed');
      expect(tail).toContain('first');
      expect(tail).not.toContain('hunter2');
      expect(Buffer.byteLength(await bed.host.units.logTail(UNIT, 5))).toBeLessThanOrEqual(5);
    });

    it('gives a unit its arguments, its environment and its directory', async () => {
      const words = ['a b', '$HOME', '%n', '"', "'", '\\'];
      const script = 'for each in "$@" "$VALUE" "$PWD"; do printf "[%s]\\n" "$each"; done; exec sleep 600';
      const printing = bed.unit({
        exec: {
          argv: ['/bin/sh', '-c', script, 'sh', ...words],
          env: { VALUE: 'b "c" $d %i' },
          workingDirectory: '/usr',
          user: 'root',
        },
      });
      await bed.host.units.write(printing);
      await bed.host.units.start(UNIT);
      if (!bed.host.capabilities.programs) return;
      const lines = [...words, 'b "c" $d %i', '/usr'].map((each) => `[${each}]`);
      const tail = await eventually(async () => {
        const text = await bed.host.units.logTail(UNIT, 1000);
        return text.includes('[/usr]') ? text.split('\n').filter((line) => line.startsWith('[')) : undefined;
      }, 'nothing printed');
      expect(tail).toEqual(lines);
    });
  });
}
