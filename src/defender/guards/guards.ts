/** All guards of a decision. */
import { fleetCause } from '../allowance/cause-guard.ts';
import { fleetLimits, fleetStop } from '../allowance/guards.ts';
import { approvals } from './approvals.ts';
import { askRecent, askValid, revisionKnown, sameNode } from './ask-valid.ts';
import { alerts, blockingPods, foreignOwners } from './blockers.ts';
import { breakerOpen, commonCause, stormCooldown } from './breaker-open.ts';
import { capacity } from './capacity.ts';
import { controlPlane } from './control-plane.ts';
import type { Guard } from './guard.ts';
import { ledgerFull, ledgerRecovering } from './ledger-state.ts';
import { nodeAge, oneAct, repairLimits } from './machine.ts';
import { rates } from './rates.ts';
import { ruleWaves } from './rule-waves.ts';
import { held, killSwitch } from './stop.ts';
import { concurrencyLimits, lastReady } from './unavailable-limits.ts';
import { darkZone, zonalShift } from './view/dark-zone.ts';
import { secondVantage } from './view/second-vantage.ts';
import { apiErrors, clockTrusted, massUnknown, viewFresh } from './view/self-doubt.ts';
import { freeze, quietWindow } from './windows.ts';

export const GUARDS: readonly Guard[] = [
  killSwitch,
  fleetStop,
  held,
  ledgerRecovering,
  ledgerFull,
  askValid,
  askRecent,
  revisionKnown,
  sameNode,
  clockTrusted,
  viewFresh,
  apiErrors,
  massUnknown,
  secondVantage,
  controlPlane,
  darkZone,
  zonalShift,
  breakerOpen,
  commonCause,
  fleetCause,
  stormCooldown,
  quietWindow,
  freeze,
  alerts,
  foreignOwners,
  blockingPods,
  oneAct,
  nodeAge,
  repairLimits,
  lastReady,
  concurrencyLimits,
  rates,
  ruleWaves,
  fleetLimits,
  capacity,
  approvals,
];

export const GUARD_IDS: readonly string[] = GUARDS.map(({ id }) => id);
