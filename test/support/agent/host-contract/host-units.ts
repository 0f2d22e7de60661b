/** Units that only a host with systemd has: text of a unit, drop-ins, units that no agent wrote. */
import { describe, expect, it } from 'vitest';
import type { UnitDefinition } from '../../../../src/agent/host/port.ts';
import { agentUnit } from '../targets.ts';
import { type ContractBed, OTHER_UNIT, UNIT } from './bed.ts';

export function describeHostUnits(bed: ContractBed): void {
  /** A host that cannot do it refuses it; the rest of the test is for the others. */
  async function isRefused(unit: UnitDefinition): Promise<boolean> {
    if (bed.host.capabilities.systemdUnits) return false;
    await expect(bed.host.units.write(unit)).rejects.toMatchObject({ code: 'NotSupported' });
    return true;
  }

  describe('units of systemd', () => {
    it('AGT-14 runs the text of a unit', async () => {
      const raw = `[Service]\nExecStart=${bed.contract.runs.join(' ')}\n\n[Install]\nWantedBy=multi-user.target\n`;
      const unit = without(UNIT, { raw });
      if (await isRefused(unit)) return;
      await bed.host.units.write(unit);
      await bed.host.units.setEnabled(UNIT, true);
      await bed.host.units.start(UNIT);
      expect(await bed.host.units.status(unit)).toMatchObject({
        defined: true,
        enabled: true,
        active: 'Active',
      });
      expect((await bed.host.units.status(without(UNIT, { raw: `${raw}# other\n` })))?.defined).toBe(false);
    });

    it('AGT-14 writes drop-ins, and removes those that the next version has no more', async () => {
      const dropIns = [{ name: 'limits', content: '[Service]\nLimitNOFILE=4096\n' }];
      const unit = bed.unit({ dropIns });
      if (await isRefused(unit)) return;
      await bed.host.units.write(unit);
      expect((await bed.host.units.status(unit))?.defined).toBe(true);
      expect((await bed.host.units.status(bed.unit()))?.defined).toBe(false);
      await bed.host.units.write(bed.unit());
      expect((await bed.host.units.status(bed.unit()))?.defined).toBe(true);
      expect((await bed.host.units.status(unit))?.defined).toBe(false);
    });

    it('cannot extend a unit that the host does not have', async () => {
      const unit = without(OTHER_UNIT, { existing: true });
      if (await isRefused(unit)) return;
      await expect(bed.host.units.write(unit)).rejects.toMatchObject({ code: 'UnitNotFound' });
    });

    it('AGT-14 takes over a unit that the host has without touching its process', async () => {
      const unit = without(UNIT, { existing: true });
      if (await isRefused(unit)) return;
      await bed.contract.installUnit?.(UNIT);
      const before = await bed.host.units.status(unit);
      expect(before).toMatchObject({ defined: false, active: 'Active', enabled: false });
      await bed.host.units.write(unit);
      expect(await bed.host.units.status(unit)).toEqual({ ...before, defined: true });
    });

    it('AGT-31 removes the mask of a unit that the host has', async () => {
      const unit = without(UNIT, { existing: true });
      if (await isRefused(unit)) return;
      await bed.contract.installUnit?.(UNIT);
      await bed.host.units.write(unit);
      await bed.contract.mask(UNIT);
      expect((await bed.host.units.status(unit))?.masked).toBe(true);
      await bed.host.units.setEnabled(UNIT, true);
      expect(await bed.host.units.status(unit)).toMatchObject({ masked: false, enabled: true });
    });

    it('AGT-15 gives a unit back whose definition it replaced, also when it is removed twice', async () => {
      if (await isRefused(without(UNIT, { existing: true }))) return;
      await bed.contract.installUnit?.(UNIT);
      await bed.host.units.stop(UNIT);
      await bed.host.units.write(bed.unit());
      await bed.host.units.setEnabled(UNIT, true);
      await bed.host.units.start(UNIT);
      await bed.host.units.stop(UNIT);
      for (const _ of [1, 2]) {
        await bed.host.units.remove(bed.unit());
        const status = await bed.host.units.status(bed.unit());
        expect(status).toMatchObject({ defined: false, enabled: false, active: 'Active' });
      }
    });

    it('AGT-15 gives a unit back that a person masked after its definition was replaced', async () => {
      if (await isRefused(without(UNIT, { existing: true }))) return;
      await bed.contract.installUnit?.(UNIT);
      await bed.host.units.stop(UNIT);
      await bed.host.units.write(bed.unit());
      await bed.host.units.setEnabled(UNIT, true);
      await bed.contract.mask(UNIT);
      await bed.host.units.remove(bed.unit());
      const status = await bed.host.units.status(bed.unit());
      expect(status).toMatchObject({ defined: false, enabled: false, masked: false, active: 'Active' });
    });

    it('AGT-15 gives a unit back running that was stopped before it was first written', async () => {
      const unit = without(UNIT, { existing: true });
      if (await isRefused(unit)) return;
      await bed.contract.installUnit?.(UNIT);
      await bed.host.units.stop(UNIT);
      await bed.host.units.write(unit);
      await bed.host.units.remove(unit);
      expect((await bed.host.units.status(unit))?.active).toBe('Active');
    });

    it('AGT-15 leaves a unit of the host as it was before, running and not enabled', async () => {
      const unit = without(UNIT, {
        existing: true,
        dropIns: [{ name: 'limits', content: '[Service]\nLimitNOFILE=4096\n' }],
      });
      if (await isRefused(unit)) return;
      await bed.contract.installUnit?.(UNIT);
      await bed.host.units.write(unit);
      await bed.host.units.setEnabled(UNIT, true);
      await bed.host.units.stop(UNIT);
      await bed.host.units.remove(unit);
      expect(await bed.host.units.status(unit)).toMatchObject({
        defined: false,
        enabled: false,
        active: 'Active',
      });
      await bed.host.units.remove(unit);
      expect((await bed.host.units.status(unit))?.active).toBe('Active');
    });
  });
}

/** A unit without exec has what the host, or its text, gives it. */
function without(name: string, fields: Partial<UnitDefinition>): UnitDefinition {
  const { exec: _exec, ...unit } = agentUnit(name, fields);
  return unit;
}
