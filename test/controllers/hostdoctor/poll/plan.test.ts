import { describe, expect, it } from 'vitest';
import type { Machine, MaintenanceEvent } from '../../../../src/api/generated/types.ts';
import { type PollInput, planPoll } from '../../../../src/controllers/hostdoctor/poll/plan.ts';
import type { InstanceEvent } from '../../../../src/providers/contract.ts';
import { ago, machine, NOW } from '../../../support/builders.ts';
import { type EventParts, maintenanceEvent } from '../../../support/maintenance.ts';

const POLLED = { labels: { 'app.kubernetes.io/managed-by': 'kubenode' } };
const IN_AN_HOUR = new Date(ago(-3600));

function instance(name: string, providerID = `local:///${name}`, provider = 'local'): Machine {
  const infra = { provider: provider as 'local', config: {} };
  return machine(name, { spec: { infra }, status: { infra: { providerID } } });
}

function notice(parts: Partial<InstanceEvent> = {}): InstanceEvent {
  return { eventId: 'e-1', instanceId: 'local:///m-1', type: 'Reboot', notBefore: IN_AN_HOUR, ...parts };
}

function polled(parts: EventParts = {}): MaintenanceEvent {
  return maintenanceEvent({ eventID: 'e-1', ...parts, metadata: { ...POLLED, ...parts.metadata } });
}

function planFor(
  notices: readonly InstanceEvent[],
  more: Partial<PollInput> = {},
): ReturnType<typeof planPoll> {
  const machines = [instance('m-1'), instance('m-2')];
  return planPoll({
    provider: 'local',
    notices,
    machines,
    events: [],
    missing: new Map(),
    now: NOW,
    ...more,
  });
}

/** `name machine type state` of each report. */
function reports(...args: Parameters<typeof planFor>): readonly string[] {
  return planFor(...args).reports.map(({ metadata, spec }) =>
    [metadata.name, spec?.machine, spec?.type, spec?.state].join(' '),
  );
}

function missing(polls: number): ReadonlyMap<string, number> {
  return new Map([['local-e-1', polls]]);
}

describe('a notice of a provider', () => {
  it('MAC-37 becomes an event of its machine, with our mark', () => {
    expect(planFor([notice({ deadline: new Date(ago(-7200)) })]).reports).toEqual([
      {
        metadata: {
          name: 'local-e-1',
          labels: { 'app.kubernetes.io/managed-by': 'kubenode', 'kubenode.dev/machine': 'm-1' },
        },
        spec: {
          provider: 'local',
          eventID: 'e-1',
          machine: 'm-1',
          type: 'Reboot',
          state: 'Scheduled',
          hint: false,
          notBefore: '2030-01-01T13:00:00Z',
          deadline: '2030-01-01T14:00:00Z',
        },
      },
    ]);
  });

  it('MAC-37 that is repeated, in one list or in the next one, is the same event', () => {
    expect(reports([notice(), notice()])).toEqual(['local-e-1 m-1 Reboot Scheduled']);
    expect(reports([notice()], { events: [polled()] })).toEqual(['local-e-1 m-1 Reboot Scheduled']);
  });

  it.each<[string, Partial<InstanceEvent>, string | undefined, string | undefined]>([
    ['moved', { notBefore: new Date(ago(-9000)) }, '2030-01-01T14:30:00Z', undefined],
    ['without times', { notBefore: undefined as never }, undefined, undefined],
    ['with a deadline before its begin', { deadline: NOW }, '2030-01-01T13:00:00Z', undefined],
    [
      'with an invalid time',
      { notBefore: new Date(Number.NaN), deadline: NOW },
      undefined,
      '2030-01-01T12:00:00Z',
    ],
  ])('MAC-37 has the times that the API server accepts: %s', (_, parts, notBefore, deadline) => {
    const [report] = planFor([notice(parts)], { events: [polled()] }).reports;
    expect([report?.spec?.notBefore, report?.spec?.deadline]).toEqual([notBefore, deadline]);
  });

  it('MAC-37 of a type that is not known to us is Other, for which nothing is drained', () => {
    expect(reports([notice({ type: 'system-maintenance' })])).toEqual(['local-e-1 m-1 Other Scheduled']);
    expect(reports([notice({ type: 'Stop' })], { events: [polled()] })).toEqual([
      'local-e-1 m-1 Reboot Scheduled',
    ]);
  });

  it.each<[string, readonly Machine[], string]>([
    ['no Machine', [], 'no Machine has the instance local:///m-1'],
    [
      'a Machine of another provider only',
      [instance('m-1', 'local:///m-1', 'ssh')],
      'no Machine has the instance local:///m-1',
    ],
    ['a Machine without an instance', [machine('m-1')], 'no Machine has the instance local:///m-1'],
    [
      'two Machines',
      [instance('m-1'), instance('m-9', 'local:///m-1')],
      'Machines m-1 and m-9 have the instance local:///m-1',
    ],
  ])('MAC-37 about an instance of %s is skipped, and explained', (_, machines, because) => {
    const { reports: found, skipped } = planFor([notice()], { machines });
    expect([found, [...skipped]]).toEqual([[], [['e-1', because]]]);
  });

  it('MAC-37 about several instances is one event for each, and stays so when one of them is over', () => {
    const both = [notice(), notice({ instanceId: 'local:///m-2' })];
    const [first = '', second = ''] = reports(both);
    expect(first).toBe('local-e-1 m-1 Reboot Scheduled');
    expect(second).toMatch(/^local-e-1-[0-9a-f]{8} m-2 Reboot Scheduled$/);
    const [name = ''] = second.split(' ');
    const own = polled({ name, machine: 'm-2' });
    expect(reports(both.slice(1), { events: [polled(), own] })).toEqual([second]);
    expect(reports(both.slice(1), { events: [polled({ state: 'Done' })] })).toEqual([second]);
    expect(reports(both.slice(1), { events: [own] })).toEqual([second]);
  });

  it('MAC-37 never changes what a person reported, ended or continued', () => {
    const byHand = maintenanceEvent({ eventID: 'e-1', state: 'Executing' });
    expect(reports([notice()], { events: [byHand] })).toEqual([]);
    expect(reports([notice()], { events: [polled({ state: 'Cancelled' })] })).toEqual([]);
    expect(reports([notice()], { events: [polled({ state: 'Executing' })] })).toEqual([
      'local-e-1 m-1 Reboot Executing',
    ]);
  });

  it.each(['Cancelled', 'Done'] as const)('MAC-37 of an event that ended as %s is explained', (state) => {
    const because = `MaintenanceEvent local-e-1 is ${state}, and an event that ended cannot begin again. To prepare the machine for it, delete that MaintenanceEvent`;
    expect([...planFor([notice()], { events: [polled({ state })] }).skipped]).toEqual([['e-1', because]]);
    expect(planFor([notice()], { events: [maintenanceEvent({ eventID: 'e-1' })] }).skipped.size).toBe(0);
  });

  it('MAC-37 is one of a thousand that begin first: the others are named', () => {
    const many = Array.from({ length: 1001 }, (_, index) =>
      notice({ eventId: `e-${index}`, notBefore: new Date(+IN_AN_HOUR - index * 1000) }),
    );
    const { reports: found, skipped } = planFor(many);
    expect(found).toHaveLength(1000);
    expect([...skipped]).toEqual([['e-0', 'more than 1000 are announced']]);
  });
});

describe('an event that is not announced any more', () => {
  it.each<[EventParts, number, readonly string[]]>([
    [{}, 0, []],
    [{}, 1, []],
    [{}, 2, ['local-e-1 m-1 Reboot Cancelled']],
    [{ state: 'Inquiring' }, 2, ['local-e-1 m-1 Reboot Cancelled']],
    [{ notBefore: ago(0) }, 1, []],
    [{ notBefore: ago(0) }, 2, ['local-e-1 m-1 Reboot Executing']],
    [{ notBefore: ago(60), state: 'Executing' }, 3, ['local-e-1 m-1 Reboot Done']],
    [{ state: 'Done' }, 9, []],
    [{ provider: 'ssh' }, 9, []],
  ])('R39 ends after three polls without it, as its time tells: %j after %i', (parts, polls, found) => {
    expect(reports([], { events: [polled(parts)], missing: missing(polls) })).toEqual(found);
  });

  it('R39 never ends when a person reported it', () => {
    expect(reports([], { events: [maintenanceEvent()], missing: missing(9) })).toEqual([]);
  });

  it('R39 is counted from the beginning when it was announced in between', () => {
    const events = [polled()];
    expect(planFor([notice()], { events, missing: missing(2) }).missing).toEqual(new Map());
    expect(planFor([], { events, missing: missing(1) }).missing).toEqual(missing(2));
  });

  it('R39 stays while it is announced, although its Machine is not found', () => {
    const { reports: found, missing: counted } = planFor([notice()], {
      events: [polled()],
      machines: [],
      missing: missing(9),
    });
    expect([found, counted]).toEqual([[], new Map()]);
  });
});
