/** Units of a host: definition, start, stop, restart. */
import { describe, expect, it } from 'vitest';
import { HostError } from '../../../../src/agent/host/errors.ts';
import { eventually } from '../../eventually.ts';
import { agentUnit } from '../targets.ts';
import { type ContractBed, execOf, OTHER_UNIT, UNIT } from './bed.ts';

function ignoreFailed(error: unknown): void {
  if (!(error instanceof HostError) || error.code !== 'UnitFailed') throw error;
}

export function describeUnits(bed: ContractBed): void {
  describe('units', () => {
    it('has no status for a unit that was never written', async () => {
      expect(await bed.host.units.status(bed.unit())).toBeUndefined();
      await expect(bed.host.units.start(UNIT)).rejects.toMatchObject({ code: 'UnitNotFound' });
      await expect(bed.host.units.setEnabled(UNIT, true)).rejects.toMatchObject({
        code: 'UnitNotFound',
      });
    });

    it('writes a unit without starting or enabling it', async () => {
      await bed.host.units.write(bed.unit());
      expect(await bed.host.units.status(bed.unit())).toMatchObject({
        defined: true,
        enabled: false,
        masked: false,
        active: 'Inactive',
        restarts: 0,
      });
    });

    it('finds another definition', async () => {
      await bed.host.units.write(bed.unit());
      const other = bed.unit({ exec: { argv: [...bed.contract.runs], env: { A: 'b' }, user: 'root' } });
      expect((await bed.host.units.status(other))?.defined).toBe(false);
      await bed.host.units.write(other);
      expect((await bed.host.units.status(other))?.defined).toBe(true);
    });

    it('enables and disables, and each can be repeated', async () => {
      await bed.host.units.write(bed.unit());
      for (const enabled of [true, true, false, false]) {
        await bed.host.units.setEnabled(UNIT, enabled);
        expect((await bed.host.units.status(bed.unit()))?.enabled).toBe(enabled);
      }
    });

    it('starts one process, and a second start changes nothing', async () => {
      await bed.host.units.write(bed.unit());
      await bed.host.units.start(UNIT);
      const first = await bed.host.units.status(bed.unit());
      expect(first).toMatchObject({ active: 'Active', restarts: 0 });
      expect(first?.process?.pid).toBeGreaterThan(0);
      await bed.host.units.start(UNIT);
      expect((await bed.host.units.status(bed.unit()))?.process).toEqual(first?.process);
    });

    it('stops it, and a second stop changes nothing', async () => {
      await bed.host.units.write(bed.unit());
      await bed.host.units.start(UNIT);
      await bed.host.units.stop(UNIT);
      expect(await bed.active()).toBe('Inactive');
      expect((await bed.host.units.status(bed.unit()))?.process).toBeUndefined();
      await bed.host.units.stop(UNIT);
      expect(await bed.active()).toBe('Inactive');
    });

    it('gives a process that was started again another identity', async () => {
      await bed.host.units.write(bed.unit());
      await bed.host.units.start(UNIT);
      const first = (await bed.host.units.status(bed.unit()))?.process;
      await bed.host.units.stop(UNIT);
      await bed.host.units.start(UNIT);
      const second = (await bed.host.units.status(bed.unit()))?.process;
      expect([second?.pid, second?.startId]).not.toEqual([first?.pid, first?.startId]);
    });

    it('fails to start a program that does not exist', async () => {
      await bed.host.units.write(bed.failing());
      await expect(bed.host.units.start(UNIT)).rejects.toMatchObject({ code: 'UnitFailed' });
      expect(await bed.active(bed.failing())).toBe('Failed');
      await bed.host.units.stop(UNIT);
      expect(await bed.active(bed.failing())).toBe('Inactive');
    });

    it('removes a stopped unit, and refuses one that runs', async () => {
      await bed.host.units.write(bed.unit());
      await bed.host.units.start(UNIT);
      await expect(bed.host.units.remove(bed.unit())).rejects.toMatchObject({ code: 'UnitFailed' });
      await bed.host.units.stop(UNIT);
      await bed.host.units.remove(bed.unit());
      expect(await bed.host.units.status(bed.unit())).toBeUndefined();
      await bed.host.units.remove(bed.unit());
    });

    it('reloads without another process', async () => {
      const reloading = bed.unit({ reload: { argv: ['/bin/true'] } });
      await bed.host.units.write(reloading);
      await bed.host.units.start(UNIT);
      const before = (await bed.host.units.status(reloading))?.process;
      await bed.host.units.reload(UNIT);
      expect((await bed.host.units.status(reloading))?.process).toEqual(before);
    });

    it('keeps processes and their identity over a restart of the agent', async () => {
      await bed.host.units.write(bed.unit());
      await bed.host.units.start(UNIT);
      const before = await bed.host.units.status(bed.unit());
      await bed.restartAgent();
      expect(await bed.host.units.status(bed.unit())).toEqual(before);
      await bed.host.units.stop(UNIT);
      expect(await bed.active()).toBe('Inactive');
    });

    it('starts a process that crashed again, and counts it', async () => {
      const restarting = bed.unit({ restart: { policy: 'Always', delaySeconds: 0, maxPerMinute: 10 } });
      await bed.host.units.write(restarting);
      await bed.host.units.start(UNIT);
      const before = (await bed.host.units.status(restarting))?.process;
      await bed.contract.crash(UNIT);
      const after = await eventually(
        async () => {
          const status = await bed.host.units.status(restarting);
          const isNew = status?.process && status.process.pid !== before?.pid;
          return status?.active === 'Active' && isNew ? status : undefined;
        },
        'not started again',
        10_000,
      );
      expect(after.restarts).toBe(1);
    });

    it('starts what is enabled after a reboot, with another boot id', async () => {
      const before = await bed.host.node.bootId();
      await bed.host.units.write(bed.unit());
      await bed.host.units.setEnabled(UNIT, true);
      await bed.host.units.write(agentUnit(OTHER_UNIT, { exec: bed.unit().exec as never }));
      await bed.host.units.start(OTHER_UNIT);
      await bed.host.node.reboot();
      await bed.restartAgent();
      expect(await bed.host.node.bootId()).not.toBe(before);
      expect(await bed.active()).toBe('Active');
      expect((await bed.host.units.status(agentUnit(OTHER_UNIT)))?.active).toBe('Inactive');
    });

    it('AGT-31 tells the digest of the program that runs', async () => {
      await bed.host.units.write(bed.unit());
      await bed.host.units.start(UNIT);
      const { process } = (await bed.host.units.status(bed.unit())) ?? {};
      expect(process?.programDigest).toBe(await bed.contract.programDigest());
      expect(process?.programDigest).toMatch(/^[0-9a-f]{64}$/);
    });

    it('leaves the process when its definition is written, enabled or disabled', async () => {
      await bed.host.units.write(bed.unit());
      await bed.host.units.start(UNIT);
      const before = (await bed.host.units.status(bed.unit()))?.process;
      await bed.host.units.write(bed.unit({ stop: { signal: 'INT', timeoutSeconds: 3 } }));
      for (const enabled of [true, false]) await bed.host.units.setEnabled(UNIT, enabled);
      expect((await bed.host.units.status(bed.unit()))?.process).toEqual(before);
    });

    it('AGT-30 finds a definition that a person edited, and writes it back', async () => {
      await bed.host.units.write(bed.unit());
      await bed.write(bed.contract.definitionFile(UNIT), '# theirs');
      expect((await bed.host.units.status(bed.unit()))?.defined).toBe(false);
      await bed.host.units.write(bed.unit());
      expect(await bed.host.units.status(bed.unit())).toMatchObject({ defined: true, active: 'Inactive' });
      await bed.host.units.start(UNIT);
      expect(await bed.active()).toBe('Active');
    });

    it('AGT-31 tells that a unit is masked, does not start it, and removes the mask', async () => {
      await bed.host.units.write(bed.unit());
      await bed.host.units.setEnabled(UNIT, true);
      await bed.contract.mask(UNIT);
      expect((await bed.host.units.status(bed.unit()))?.masked).toBe(true);
      await expect(bed.host.units.start(UNIT)).rejects.toMatchObject({ code: 'UnitFailed' });
      await bed.host.units.write(bed.unit());
      await bed.host.units.setEnabled(UNIT, true);
      expect(await bed.host.units.status(bed.unit())).toMatchObject({
        masked: false,
        enabled: true,
        defined: true,
      });
      await bed.host.units.start(UNIT);
      expect(await bed.active()).toBe('Active');
    });

    it('leaves the process of a unit that is masked while it runs', async () => {
      await bed.host.units.write(bed.unit());
      await bed.host.units.start(UNIT);
      await bed.contract.mask(UNIT);
      expect(await bed.host.units.status(bed.unit())).toMatchObject({ masked: true, active: 'Active' });
    });

    it('has nothing left of a unit that was removed', async () => {
      await bed.host.units.write(bed.unit());
      await bed.host.units.setEnabled(UNIT, true);
      await bed.host.units.start(UNIT);
      await bed.host.units.stop(UNIT);
      await bed.host.units.remove(bed.unit());
      await bed.host.units.write(bed.unit());
      expect(await bed.host.units.status(bed.unit())).toMatchObject({ enabled: false, active: 'Inactive' });
    });

    it('AGT-15 leaves nothing of a unit that a person masked', async () => {
      await bed.host.units.write(bed.unit());
      await bed.host.units.setEnabled(UNIT, true);
      await bed.contract.mask(UNIT);
      await bed.host.units.remove(bed.unit());
      expect(await bed.host.units.status(bed.unit())).toBeUndefined();
      await bed.host.units.write(bed.unit());
      expect(await bed.host.units.status(bed.unit())).toMatchObject({ enabled: false, masked: false });
    });

    it('AGT-15 refuses to remove a unit that a person masked and that runs', async () => {
      await bed.host.units.write(bed.unit());
      await bed.host.units.start(UNIT);
      await bed.contract.mask(UNIT);
      await expect(bed.host.units.remove(bed.unit())).rejects.toMatchObject({ code: 'UnitFailed' });
      await bed.host.units.stop(UNIT);
      await bed.host.units.remove(bed.unit());
      expect(await bed.host.units.status(bed.unit())).toBeUndefined();
    });

    it('stops a unit that was never started', async () => {
      await bed.host.units.write(bed.unit());
      await bed.host.units.stop(UNIT);
      expect(await bed.active()).toBe('Inactive');
      await expect(bed.host.units.stop(OTHER_UNIT)).rejects.toMatchObject({ code: 'UnitNotFound' });
    });

    it('starts after a failure, once the definition is right', async () => {
      await bed.host.units.write(bed.failing());
      await expect(bed.host.units.start(UNIT)).rejects.toMatchObject({ code: 'UnitFailed' });
      await bed.host.units.write(bed.unit());
      await bed.host.units.start(UNIT);
      expect(await bed.host.units.status(bed.unit())).toMatchObject({ active: 'Active', restarts: 0 });
    });

    it('counts no restart of a supervisor after the agent started the unit', async () => {
      const restarting = bed.unit({ restart: { policy: 'Always', delaySeconds: 0, maxPerMinute: 10 } });
      await bed.host.units.write(restarting);
      await bed.host.units.start(UNIT);
      await bed.contract.crash(UNIT);
      await eventually(
        async () => (await bed.host.units.status(restarting))?.restarts === 1 || undefined,
        'not started again',
        10_000,
      );
      await bed.host.units.stop(UNIT);
      await bed.host.units.start(UNIT);
      expect(await bed.host.units.status(restarting)).toMatchObject({ active: 'Active', restarts: 0 });
    });

    it('AGT-20 gives up after more restarts a minute than allowed', async () => {
      const crashing = bed.unit({
        exec: execOf(bed.contract.exits),
        restart: { policy: 'Always', delaySeconds: 0, maxPerMinute: 2 },
      });
      await bed.host.units.write(crashing);
      await bed.host.units.start(UNIT).catch(ignoreFailed);
      await eventually(
        async () => (await bed.active(crashing)) === 'Failed' || undefined,
        'the unit has not failed',
        10_000,
      );
      expect((await bed.host.units.status(crashing))?.restarts).toBeGreaterThanOrEqual(2);
    });

    it.each([
      ['fails when it ends with an error', 'exits', 'Failed', ['exit code 3']],
      // systemd forgets a unit that is inactive.
      ['is inactive when it is done', 'succeeds', 'Inactive', ['exit code 0', undefined]],
    ] as const)('a service that is not restarted %s', async (_, program, expected, results) => {
      const ending = bed.unit({
        exec: execOf(bed.contract[program]),
        restart: { policy: 'Never', delaySeconds: 0, maxPerMinute: 10 },
      });
      await bed.host.units.write(ending);
      // A host may notice the end while it starts.
      await bed.host.units.start(UNIT).catch(ignoreFailed);
      await eventually(
        async () => (await bed.active(ending)) === expected || undefined,
        `the unit is not ${expected}`,
        10_000,
      );
      const status = await bed.host.units.status(ending);
      expect(status?.restarts).toBe(0);
      expect(results).toContain(status?.result);
    });

    it('has a OneShot active after it succeeded, until it is stopped, and runs it again', async () => {
      const hook = bed.unit({ type: 'OneShot', exec: execOf(bed.contract.succeeds) });
      await bed.host.units.write(hook);
      for (const _ of [1, 2]) {
        await bed.host.units.start(UNIT);
        expect(await bed.active(hook)).toBe('Active');
        await bed.host.units.stop(UNIT);
        expect(await bed.active(hook)).toBe('Inactive');
      }
    });

    it('fails to start a OneShot that ends with an error, with its exit code', async () => {
      const hook = bed.unit({ type: 'OneShot', exec: execOf(bed.contract.exits) });
      await bed.host.units.write(hook);
      await expect(bed.host.units.start(UNIT)).rejects.toMatchObject({
        code: 'UnitFailed',
        message: expect.stringContaining('exit code 3') as string,
      });
      expect(await bed.host.units.status(hook)).toMatchObject({ active: 'Failed', result: 'exit code 3' });
    });
  });
}
