import { describe, expect, it } from 'vitest';
import { addonsReady, planAddonRepair, planAddons } from '../../../../src/controllers/hosting/addons/plan.ts';
import type { AddonsReport, InstalledAddon } from '../../../../src/controllers/hosting/addons/report.ts';
import type { HostingInput, HostingWait } from '../../../../src/controllers/hosting/plan/input.ts';
import { planHosting } from '../../../../src/controllers/hosting/plan/plan.ts';
import {
  addon,
  decisionText,
  freeze,
  HOSTED,
  hostingInput,
  type InputParts,
} from '../../../support/hosting/objects.ts';

const DNS = addon('dns');
const NEW_DNS = addon('dns', '2');
const PROXY = addon('proxy', '3');
const FROZEN = { ...HOSTED.upgrade, freezes: [freeze()] };
const DRIFT = { object: 'ConfigMap kube-system/coredns', because: 'it is missing' };
const UNREADY = { object: 'apps/Deployment kube-system/coredns', because: '0 of 2 replicas are updated' };

function installed(name: string, digit = '1', parts: Partial<InstalledAddon> = {}): InstalledAddon {
  const digest = digit.repeat(64);
  return { name, begun: digest, applied: digest, drifted: [], unready: [], ...parts };
}

function report(...addons: readonly InstalledAddon[]): { readonly addons: AddonsReport } {
  return { addons: { installed: addons, hasNodes: true } };
}

describe('the next step for add-ons', () => {
  it.each<readonly [name: string, parts: InputParts, expected: string]>([
    ['none is declared', { input: report() }, 'nothing'],
    ['they were not read', { hosted: { addons: [DNS] } }, 'nothing'],
    [
      'the first is missing',
      { hosted: { addons: [DNS, PROXY] }, input: report() },
      'ApplyAddon dns: it is not installed',
    ],
    [
      'the second is missing',
      { hosted: { addons: [DNS, PROXY] }, input: report(installed('dns')) },
      'ApplyAddon proxy: it is not installed',
    ],
    ['it is as declared', { hosted: { addons: [DNS] }, input: report(installed('dns')) }, 'nothing'],
    [
      'its digest changed',
      { hosted: { addons: [NEW_DNS] }, input: report(installed('dns')) },
      'ApplyAddon dns: its manifests changed from 111111111111 to 222222222222',
    ],
    [
      'the apply of its new digest was interrupted',
      { hosted: { addons: [NEW_DNS] }, input: report(installed('dns', '1', { begun: NEW_DNS.sha256 })) },
      'ApplyAddon dns: its apply was interrupted',
    ],
    [
      'a person deleted an object',
      { hosted: { addons: [DNS] }, input: report(installed('dns', '1', { drifted: [DRIFT] })) },
      'ApplyAddon dns: ConfigMap kube-system/coredns: it is missing',
    ],
    [
      'it is off',
      { hosted: { addons: [{ ...DNS, enabled: false }] }, input: report(installed('dns')) },
      'RemoveAddon dns: it is not declared any more',
    ],
    ['it was dropped', { input: report(installed('dns')) }, 'RemoveAddon dns: it is not declared any more'],
    [
      'two were dropped',
      { input: report(installed('dns'), installed('proxy')) },
      'RemoveAddon proxy: it is not declared any more',
    ],
    [
      'a person damaged its record',
      { hosted: { addons: [DNS] }, input: report(installed('dns', '1', { begun: '' })) },
      'ApplyAddon dns: its manifests changed from unknown to 111111111111',
    ],
    [
      'one comes and one goes',
      { hosted: { addons: [PROXY] }, input: report(installed('dns')) },
      'ApplyAddon proxy: it is not installed',
    ],
    [
      'a freeze holds no installation',
      { hosted: { addons: [DNS], upgrade: FROZEN }, input: report() },
      'ApplyAddon dns: it is not installed',
    ],
    [
      'a freeze holds other manifests',
      { hosted: { addons: [NEW_DNS], upgrade: FROZEN }, input: report(installed('dns')) },
      'wait Freeze',
    ],
    [
      'a freeze holds other manifests, also where the former apply was interrupted',
      {
        hosted: { addons: [NEW_DNS], upgrade: FROZEN },
        input: report(installed('dns', '1', { applied: undefined })),
      },
      'wait Freeze',
    ],
    [
      'a freeze holds a removal',
      { hosted: { upgrade: FROZEN }, input: report(installed('dns')) },
      'wait Freeze',
    ],
    [
      'a freeze holds no repair',
      {
        hosted: { addons: [DNS], upgrade: FROZEN },
        input: report(installed('dns', '1', { drifted: [DRIFT] })),
      },
      'ApplyAddon dns: ConfigMap kube-system/coredns: it is missing',
    ],
    [
      'the kill switch holds other manifests',
      { hosted: { addons: [NEW_DNS] }, input: { ...report(installed('dns')), halt: 'ada' } },
      'wait KillSwitch',
    ],
    [
      'the kill switch holds a removal',
      { input: { ...report(installed('dns')), halt: 'ada' } },
      'wait KillSwitch',
    ],
  ])('HOS-51 plans the next step of add-ons when %s', (_, parts, expected) => {
    const input = hostingInput(parts);
    expect(decisionText(planAddonRepair(input) ?? planAddons(input) ?? {})).toBe(expected);
  });

  it('HOS-51 changes no add-on before the control plane has all its members', () => {
    const parts = { hosted: { addons: [DNS] }, input: { ...report(), secret: 'Absent' as const } };
    expect(decisionText(planHosting(hostingInput(parts)))).toMatch(/^WriteSecret/);
    expect(decisionText(planHosting(hostingInput({ ...parts, input: report() })))).toMatch(/^ApplyAddon dns/);
  });

  it('HOS-51 repairs add-ons, and installs none, while a change waits for a person', () => {
    const stalled = { differences: ['version v1.36.3, not v1.38.0'] };
    const hosted = { version: 'v1.38.0', addons: [DNS, PROXY] };
    const text = (input: Partial<HostingInput>): string =>
      decisionText(planHosting(hostingInput({ hosted, plane: stalled, input })));
    expect(text(report(installed('dns')))).toBe('stalled VersionSkew');
    expect(text(report(installed('dns', '1', { drifted: [DRIFT] })))).toMatch(/^ApplyAddon dns/);
  });
});

describe('AddonsReady', () => {
  const blocked: HostingWait = {
    reason: 'AddonNotFetched',
    message: 'https://a.example/dns.yaml could not be fetched: ECONNREFUSED',
    blocker: { kind: 'Addon', name: 'dns' },
    isStalled: false,
  };
  it.each<readonly [name: string, parts: InputParts, expected: string]>([
    [
      'the API server does not answer',
      { input: { addons: undefined } },
      'Unknown NotObserved: the control plane is not ready yet',
    ],
    [
      'the API server answers, and they cannot be read',
      { input: { addons: undefined, addonsSilence: 'a webhook does not answer' } },
      'Unknown NotObserved: the add-ons could not be read: a webhook does not answer',
    ],
    ['none is declared', { input: report() }, 'True NoAddons: no add-ons are declared'],
    [
      'all are off',
      { hosted: { addons: [{ ...DNS, enabled: false }] }, input: report() },
      'True Ready: 0 add-ons are installed and serve',
    ],
    [
      'all serve',
      { hosted: { addons: [DNS] }, input: report(installed('dns')) },
      'True Ready: 1 add-ons are installed and serve',
    ],
    [
      'one is missing',
      { hosted: { addons: [DNS] }, input: report() },
      'False Applying: dns: it is not installed',
    ],
    [
      'one is missing, and another one does not serve',
      {
        hosted: { addons: [DNS, PROXY] },
        input: report(installed('dns', '1', { unready: [UNREADY] })),
      },
      'False Applying: proxy: it is not installed',
    ],
    [
      'a person deleted an object',
      { hosted: { addons: [DNS] }, input: report(installed('dns', '1', { drifted: [DRIFT] })) },
      'False Applying: dns: ConfigMap kube-system/coredns: it is missing',
    ],
    ['one goes', { input: report(installed('dns')) }, 'False Removing: dns: it is not declared any more'],
    [
      'a freeze holds other manifests',
      { hosted: { addons: [NEW_DNS], upgrade: FROZEN }, input: report(installed('dns')) },
      'False Freeze: add-on dns: its manifests changed from 111111111111 to 222222222222: freeze sale until 2030-01-02T12:00:00.000Z: sale',
    ],
    [
      'one cannot be compared',
      { hosted: { addons: [DNS] }, input: report(installed('dns', '1', { problem: 'no route' })) },
      'Unknown NotCompared: dns: no route',
    ],
    [
      'its pods wait for the first node',
      {
        hosted: { addons: [DNS] },
        input: { addons: { installed: [installed('dns', '1', { unready: [UNREADY] })], hasNodes: false } },
      },
      'Unknown NoNodesYet: no node has joined, and these wait for one: apps/Deployment kube-system/coredns',
    ],
    [
      'more of its objects wait for the first node than are named',
      {
        hosted: { addons: [DNS] },
        input: {
          addons: {
            installed: [installed('dns', '1', { unready: [DRIFT, DRIFT, DRIFT, UNREADY] })],
            hasNodes: false,
          },
        },
      },
      'Unknown NoNodesYet: no node has joined, and these wait for one: ConfigMap kube-system/coredns, ConfigMap kube-system/coredns, ConfigMap kube-system/coredns and 1 more',
    ],
    [
      'its pods do not serve on nodes',
      { hosted: { addons: [DNS] }, input: report(installed('dns', '1', { unready: [UNREADY, DRIFT] })) },
      'False NotReady: apps/Deployment kube-system/coredns: 0 of 2 replicas are updated; and 1 more. Read its events and the log of its pods',
    ],
  ])('HOS-51 tells how the add-ons are when %s', (_, parts, expected) => {
    expect(conditionText(parts)).toBe(expected);
  });

  it('HOS-51 names the add-on that cannot be applied, and why', () => {
    const parts = { hosted: { addons: [DNS] }, input: report() };
    const expected =
      'False AddonNotFetched: dns: https://a.example/dns.yaml could not be fetched: ECONNREFUSED';
    expect(conditionText(parts, blocked)).toBe(expected);
    expect(conditionText(parts, { ...blocked, blocker: { kind: 'File', name: 'dns' } })).toMatch(
      /^False Applying/,
    );
  });
});

function conditionText(parts: InputParts, wait?: HostingWait): string {
  const { status, reason, message } = addonsReady(hostingInput(parts), wait);
  return `${status} ${reason}: ${message}`;
}
