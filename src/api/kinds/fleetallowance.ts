/** FleetAllowance: what a cluster may use of the limits over clusters, and until when. Written by the hub; its status by the Defender. */
import { count, statusHead } from '../common.ts';
import { MAX_FLEET_LIMITS } from '../enums.ts';
import { bigInt, listMap, name, named, rules, type Schema, time } from '../schema.ts';
import { fleetAllowancePhases } from '../status/phase-tables.ts';
import { killSwitchField } from './defenderpolicy.ts';
import { heldCauses, reportedFailures, reportedRollouts } from './fleet-causes.ts';
import { fleetLimit, limitId } from './fleet-limits.ts';
import { AGE, conditionColumn, type Kind, PHASE } from './kind.ts';

/** Returns the fields that the ledger takes over. */
export const allowanceFields = (): Readonly<Record<string, Schema>> => ({
  hub: name('UID of the namespace kube-system of the hub.'),
  epoch: bigInt('Increases when another process of the hub hands out allowances.'),
  seq: bigInt('Increases with each allowance of the epoch.'),
  until: time('When the allowance ends. The floor of each limit holds afterwards; a stop remains.'),
  killSwitch: killSwitchField,
  limits: listMap('Share of each limit.', ['id'], fleetLimit, [0, MAX_FLEET_LIMITS]).default([]),
  causes: heldCauses,
});

const spec = rules(
  named('FleetAllowanceSpec', 'Share of the cluster of each limit over clusters.', {
    ...allowanceFields(),
    cluster: name('Name of the Cluster in the hub.'),
    at: time('When the hub wrote it, by its clock.'),
  }),
  {
    rule: 'self == oldSelf || self.hub != oldSelf.hub || self.epoch > oldSelf.epoch || (self.epoch == oldSelf.epoch && self.seq > oldSelf.seq)',
    message: 'epoch and seq must increase: another process of the hub wrote a newer allowance',
  },
);

const status = named('FleetAllowanceStatus', 'Allowance that the Defender adopted, and its use.', {
  ...statusHead(fleetAllowancePhases.phases),
  hub: name('Hub of the allowance that is adopted.').optional(),
  epoch: bigInt('Epoch of the allowance that is adopted.').optional(),
  seq: bigInt('`seq` of the allowance that is adopted.').optional(),
  at: time('When it was adopted, by the clock of the cluster.').optional(),
  until: time('When the allowance that is adopted ends.').optional(),
  limits: listMap(
    'Use of each limit.',
    ['id'],
    named('FleetLimitUse', 'Use of one limit in the cluster.', {
      id: limitId(),
      share: count('Share that is adopted.'),
      used: count('Use: acts in work (0 or 1), or acts within the period.'),
      requested: count('Acts that were denied in the last minute for want of a share.'),
      requestedSince: time('When the first of these was denied.').optional(),
    }),
    [0, MAX_FLEET_LIMITS],
  ).optional(),
  failures: reportedFailures,
  failedRollouts: reportedRollouts,
});

export const fleetAllowance: Kind = {
  kind: 'FleetAllowance',
  plural: 'fleetallowances',
  shortName: 'knfa',
  lives: 'cluster',
  description: 'Share of this cluster of the limits over clusters. A single object, written by the hub.',
  nameMax: 63,
  spec,
  status,
  rules: [
    {
      rule: "self.metadata.name == 'default'",
      message: 'the only allowance is named default',
      fieldPath: '.metadata.name',
    },
  ],
  columns: [
    PHASE,
    conditionColumn('InForce'),
    { name: 'Stopped', path: '.spec.killSwitch.engaged', type: 'boolean' },
    { name: 'Until', path: '.spec.until' },
    { name: 'Seq', path: '.spec.seq', type: 'integer' },
    { name: 'Adopted', path: '.status.seq', type: 'integer' },
    AGE,
  ],
  phases: fleetAllowancePhases,
};
