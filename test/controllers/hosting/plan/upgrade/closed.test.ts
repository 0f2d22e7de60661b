import { describe, expect, it } from 'vitest';
import type { Window } from '../../../../../src/api/generated/types.ts';
import { hostingConditions } from '../../../../../src/controllers/hosting/conditions.ts';
import type { Hosted } from '../../../../../src/controllers/hosting/plan/input.ts';
import { planHosting } from '../../../../../src/controllers/hosting/plan/plan.ts';
import { changeHeld, closedTimes } from '../../../../../src/controllers/hosting/plan/upgrade/closed.ts';
import {
  decisionText,
  freeze,
  HOSTED,
  OLD_VERSION,
  VERSION,
  window,
} from '../../../../support/hosting/objects.ts';
import { type UpgradeParts, upgradeInput } from '../../../../support/hosting/upgrades.ts';

const LATER = window('03:00', '04:00');
const OPEN = window('00:00', '23:59');
const ADDON = {
  name: 'dns',
  url: 'https://addons.example.com/dns.yaml',
  sha256: 'a'.repeat(64),
  enabled: true,
};

function closed(parts: Partial<Hosted['upgrade']>): Partial<Hosted> {
  return { upgrade: { ...HOSTED.upgrade, ...parts } };
}

function text(parts: UpgradeParts): string {
  return decisionText(planHosting(upgradeInput(parts)));
}

describe('the windows and freezes of a control plane', () => {
  it.each<readonly [name: string, parts: UpgradeParts, expected: RegExp]>([
    ['begins at any time without a window', {}, /^RecordStep/],
    ['begins in a window', { hosted: closed({ windows: [OPEN] }) }, /^RecordStep/],
    ['waits for a window', { hosted: closed({ windows: [LATER] }) }, /^wait OutsideWindow$/],
    [
      'waits for the end of a freeze',
      { hosted: closed({ freezes: [freeze()], windows: [OPEN] }) },
      /^wait Freeze$/,
    ],
    [
      'never begins in a window of an unknown time zone',
      { hosted: closed({ windows: [{ ...OPEN, timeZone: 'Mars/Base' }] }) },
      /^stalled InvalidWindow$/,
    ],
    [
      'goes on once it has begun',
      { step: 'Preflight', hosted: closed({ freezes: [freeze()] }) },
      /^RecordStep/,
    ],
    [
      'is taken back in a freeze',
      { step: 'Managers', hosted: { version: OLD_VERSION, ...closed({ freezes: [freeze()] }) } },
      /^RecordStep.*the spec was changed/,
    ],
    [
      'passes the point of no return in a freeze',
      { step: 'Soak', seconds: 70, hosted: closed({ freezes: [freeze()] }), runs: emulating() },
      /^RecordStep.*every member was healthy/,
    ],
    [
      'does not hold the start of a member that ended',
      { hosted: closed({ freezes: [freeze()] }), but: { 'kube-scheduler': { state: 'Stopped' } } },
      /^Start kube-scheduler/,
    ],
  ])('HOS-10 a change of the control plane %s', (_, parts, expected) => {
    expect(text(parts)).toMatch(expected);
  });

  it('HOS-11 a freeze does not hold the return to the former patch version', () => {
    const before = 'v1.36.2';
    const hosted = { version: before, ...closed({ freezes: [freeze()] }) };
    const programs = { versions: [before, VERSION].map((kubernetes) => ({ kubernetes, etcd: 'v3.6.8' })) };
    const back = { settled: 'new', hosted, plane: { programs } } as const;
    expect(text(back)).toBe('wait Freeze');
    expect(text({ ...back, status: { rollbackPossible: true, rollbackVersion: before } })).toMatch(
      /^RecordStep/,
    );
    const flags = { apiServer: { extraArgs: { v: '4' } } };
    const other = { ...back, hosted: { ...hosted, ...flags } };
    expect(text({ ...other, status: { rollbackPossible: true, rollbackVersion: before } })).toBe(
      'wait Freeze',
    );
  });

  it('HOS-10 a commit that drops the windows together with a change is held by them', () => {
    const before = closedTimes(
      upgradeInput({ hosted: { version: OLD_VERSION, ...closed({ windows: [LATER] }) } }),
    );
    const first = { generation: 0, ...before };
    const held = { status: { closedTimes: { ...first, generation: 0 } } };
    expect(text(held)).toBe('wait OutsideWindow');
    const kept = closedTimes(upgradeInput(held));
    expect([kept.generation, kept.windows]).toEqual([1, [LATER]]);
    // The status has the record of this generation now, and holds on.
    expect(text({ status: { closedTimes: kept } })).toBe('wait OutsideWindow');
    // A later commit that changes nothing else lifts it.
    const lifted = { status: { closedTimes: { ...kept, generation: 0 } } };
    expect(text(lifted)).toMatch(/^RecordStep/);
    expect(closedTimes(upgradeInput(lifted)).windows).toEqual([]);
  });

  it('HOS-10 a commit that drops windows that came with an earlier change is held by them', () => {
    const none = closedTimes(upgradeInput({ hosted: { version: OLD_VERSION } }));
    const added = {
      hosted: closed({ windows: [LATER] }),
      status: { closedTimes: { ...none, generation: 0 } },
    };
    const record = closedTimes(upgradeInput(added));
    expect([record.generation, record.windows]).toEqual([1, [LATER]]);
    const dropped = { apiServer: { extraArgs: { v: '4' } } };
    expect(text({ hosted: dropped, status: { closedTimes: { ...record, generation: 0 } } })).toBe(
      'wait OutsideWindow',
    );
  });

  it('HOS-10 a commit that moves the windows together with a change is held by the former ones only', () => {
    const record = { target: 'before', generation: 0, windows: [OPEN], freezes: [] };
    expect(text({ hosted: closed({ windows: [LATER] }), status: { closedTimes: record } })).toMatch(
      /^RecordStep/,
    );
  });

  it.each<readonly [name: string, parts: UpgradeParts, windows: readonly Window[]]>([
    ['a change that is carried out', {}, []],
    ['a change of a version', { hosted: { version: VERSION } }, [LATER]],
    ['a change in work', { step: 'Soak' }, [LATER]],
    ['an add-on that is to be installed', { hosted: { addons: [ADDON] } }, [LATER]],
    ['an API server that does not answer', { input: { addons: undefined } }, [LATER]],
    ['a control plane without a record', { plane: { settled: undefined } }, [LATER]],
  ])('HOS-10 windows that a commit drops judge %s', (_, parts, windows) => {
    const record = { target: 'before', generation: 1, windows: [LATER], freezes: [] };
    const hosted = { version: OLD_VERSION, ...parts.hosted };
    const status = { closedTimes: record };
    const input = { addons: { installed: [], hasNodes: false }, ...parts.input };
    expect(closedTimes(upgradeInput({ ...parts, hosted, status, input })).windows).toEqual(windows);
  });

  it('HOS-10 a commit that drops the windows together with other manifests of an add-on is held by them', () => {
    const before = { hosted: { addons: [ADDON], ...closed({ windows: [LATER] }) } };
    const closedBefore = { ...closedTimes(upgradeInput(before)), generation: 0 };
    const addons = [{ ...ADDON, sha256: 'b'.repeat(64) }];
    const after = upgradeInput({ hosted: { addons }, status: { closedTimes: closedBefore } });
    expect(closedTimes(after).windows).toEqual([LATER]);
  });

  it.each<readonly [name: string, parts: UpgradeParts, isHeld: boolean]>([
    ['a change that is to begin', {}, true],
    ['a change in work', { step: 'Preflight' }, false],
    ['no change', { hosted: { version: OLD_VERSION } }, false],
  ])('HOS-10 a freeze holds what is to begin: %s', (_, parts, isHeld) => {
    const hosted = { ...closed({ freezes: [freeze()] }), ...parts.hosted };
    expect(changeHeld(upgradeInput({ ...parts, hosted })) !== undefined).toBe(isHeld);
  });

  it('HOS-10 the wait tells that the windows are those before the change', () => {
    const record = { target: 'before', generation: 1, windows: [LATER], freezes: [] };
    expect(changeHeld(upgradeInput({ status: { closedTimes: record } }))?.message).toMatch(
      /the next one opens at .* \(in force before the last change of the control plane\)$/,
    );
  });

  it('HOS-10 the later of the former and the present end holds', () => {
    const [short, long] = [freeze(1), freeze(48)];
    const until = new Date(long.until).toISOString();
    const input = upgradeInput({ hosted: closed({ freezes: [short] }) });
    const record = { ...closedTimes(input), freezes: [long] };
    const both = upgradeInput({ hosted: closed({ freezes: [short] }), status: { closedTimes: record } });
    expect(changeHeld(both)?.message).toContain(until);
    expect(
      changeHeld(
        upgradeInput({
          hosted: closed({ freezes: [long] }),
          status: { closedTimes: { ...record, freezes: [short] } },
        }),
      )?.message,
    ).toContain(until);
  });

  it('HOS-10 the condition tells what is held, and until when', () => {
    const input = upgradeInput({ hosted: closed({ windows: [LATER] }) });
    const condition = hostingConditions(input, undefined).find(({ type }) => type === 'ControlPlaneUpToDate');
    expect(condition).toMatchObject({ status: 'False', reason: 'OutsideWindow' });
    expect(condition?.message).toMatch(
      /version is "v1\.35\.4", not "v1\.36\.3".*the next one opens at 20\d\d-/,
    );
  });
});

function emulating(): NonNullable<UpgradeParts['runs']> {
  return {
    etcd: 'emulating',
    'kube-apiserver': 'emulating',
    'kube-controller-manager': 'emulating',
    'kube-scheduler': 'emulating',
  };
}
