/** Add-ons by the controller on control planes in memory. */
import { describe, expect, it } from 'vitest';
import type { Hosted } from '../../../../src/controllers/hosting/plan/input.ts';
import { applied, conditionText, found, type HostingBed, hostingBed } from '../../../support/hosting/bed.ts';
import { addon, freeze, HOSTED } from '../../../support/hosting/objects.ts';

const DNS = addon('dns');
const PROXY = addon('proxy', '2');

async function ready(hosted: Partial<Hosted>): Promise<HostingBed> {
  const bed = hostingBed([applied({ hosted })]);
  await bed.start();
  await bed.advance(10_000);
  expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
  return bed;
}

function change(bed: HostingBed, hosted: Partial<Hosted>): void {
  bed.apply(applied({ hosted }));
}

function addonLog(bed: HostingBed): readonly string[] {
  return bed.hosting().log.filter((line) => /^(un)?apply /.test(line));
}

describe('the add-ons of a hosted control plane', () => {
  it('HOS-51 are installed in order, upgraded, and removed, once the control plane is ready', async () => {
    const bed = await ready({ addons: [PROXY, DNS] });
    expect(bed.hosting().log.slice(-2)).toEqual(['apply ci proxy 22', 'apply ci dns 11']);
    expect(conditionText(bed, 'AddonsReady')).toBe('True Ready');
    change(bed, { addons: [PROXY, addon('dns', '3')] });
    await bed.advance(12_000);
    change(bed, { addons: [{ ...PROXY, enabled: false }] });
    await bed.advance(12_000);
    expect(addonLog(bed).slice(2)).toEqual(['apply ci dns 33', 'unapply ci proxy', 'unapply ci dns']);
    bed.writes();
    await bed.advance(120_000);
    expect(bed.writes()).toEqual([]);
  });

  it('HOS-51 hold neither the control plane nor its condition when their host is down', async () => {
    const bed = hostingBed([applied({ hosted: { addons: [DNS] } })]);
    bed.hosting().unreachable.add(DNS.url);
    await bed.start();
    await bed.advance(12_000);
    const text = (type: string): string => conditionText(bed, type);
    expect(['ControlPlaneReady', 'AddonsReady', 'ControlPlaneStalled'].map(text)).toEqual([
      'True Ready',
      'False AddonNotFetched',
      'False NotStalled',
    ]);
    expect(found(bed)?.status?.hosted?.waiting).toMatchObject({ blocker: { kind: 'Addon', name: 'dns' } });
    bed.hosting().unreachable.clear();
    await bed.advance(12_000);
    expect([text('AddonsReady'), found(bed)?.status?.hosted?.waiting]).toEqual(['True Ready', undefined]);
  });

  it('HOS-51 change when the freeze is over', async () => {
    const upgrade = { ...HOSTED.upgrade, freezes: [freeze(1)] };
    const bed = await ready({ addons: [DNS], upgrade });
    expect(addonLog(bed)).toEqual(['apply ci dns 11']);
    change(bed, { addons: [addon('dns', '3')], upgrade });
    await bed.advance(60_000);
    expect([addonLog(bed).length, conditionText(bed, 'AddonsReady')]).toEqual([1, 'False Freeze']);
    await bed.advance(3_600_000);
    expect(addonLog(bed)).toEqual(['apply ci dns 11', 'apply ci dns 33']);
  });

  it('HOS-51 wait for the freeze that the same commit dropped, and not for one that a later commit dropped', async () => {
    const open = { ...HOSTED.upgrade, freezes: [] };
    const bed = await ready({ addons: [DNS], upgrade: { ...open, freezes: [freeze(1)] } });
    change(bed, { addons: [addon('dns', '3')], upgrade: open });
    await bed.advance(60_000);
    expect([addonLog(bed).length, conditionText(bed, 'AddonsReady')]).toEqual([1, 'False Freeze']);
    change(bed, { addons: [addon('dns', '3')], upgrade: { ...open, soakSeconds: 61 } });
    await bed.advance(12_000);
    expect(addonLog(bed)).toEqual(['apply ci dns 11', 'apply ci dns 33']);
  });

  it('HOS-51 are repaired after an edit by hand', async () => {
    const bed = await ready({ addons: [DNS] });
    const addons = bed.hosting().planes.get('ci')?.addons;
    const before = addons?.get('dns');
    const drifted = [{ object: 'ConfigMap a/b', because: 'it differs in data' }];
    if (before) addons?.set('dns', { ...before, drifted });
    await bed.advance(12_000);
    expect(addonLog(bed)).toEqual(['apply ci dns 11', 'apply ci dns 11']);
  });

  it('HOS-51 wait for the first node without a failure', async () => {
    const bed = await ready({ addons: [DNS] });
    const plane = bed.hosting().planes.get('ci');
    const before = plane?.addons.get('dns');
    const unready = [{ object: 'apps/Deployment a/b', because: 'its controller has not observed it' }];
    if (before) plane?.addons.set('dns', { ...before, unready });
    await bed.advance(12_000);
    expect(conditionText(bed, 'AddonsReady')).toBe('Unknown NoNodesYet');
    if (plane) plane.hasNodes = true;
    await bed.advance(12_000);
    expect(conditionText(bed, 'AddonsReady')).toBe('False NotReady');
  });
});
