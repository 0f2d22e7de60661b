/** The limit of a FleetPolicy as a cluster gets it: in its FleetAllowance, and in its ledger once the Defender adopted it. */
import { choice, int, list, message, name, named, type Schema, text } from '../schema.ts';
import { ACTION_NAMES } from '../steps/registry.ts';

/** `<policy>/<limit>`. */
export const FLEET_LIMIT_ID = 127;

export const limitId = (): Schema => name('Policy and limit, as <policy>/<limit>.', FLEET_LIMIT_ID);

export const fleetActions = (): Schema =>
  list(
    'Actions that count. Empty: every act with risk Node or higher.',
    choice('An action.', ACTION_NAMES),
    [0, 16],
  ).default([]);

export const fleetLimit = named('FleetLimit', 'The share of this cluster of one limit over clusters.', {
  id: limitId(),
  kind: choice('Concurrency: acts in work, and a share of 0 or 1. Rate: acts that begin within a period.', [
    'Concurrency',
    'Rate',
  ]),
  share: int('Share of the cluster while the allowance lasts.'),
  floor: int('Share of the cluster when no allowance is valid.'),
  actions: fleetActions(),
  windowSeconds: int('Length of the period of a rate.', [60, 604_800]).optional(),
  max: int('The limit over all clusters, for messages.'),
  per: text('Name of the counted things, for messages.', { max: 64 }),
  message: message('Why the share is not larger, for people.').optional(),
});
