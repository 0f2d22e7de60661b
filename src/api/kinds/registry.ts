/** All of our kinds. */
import { GROUP } from '../names.ts';
import { API_VERSION, VERSION } from '../version.ts';
import { cluster } from './cluster.ts';
import { defenderLedger } from './defenderledger.ts';
import { defenderPolicy } from './defenderpolicy.ts';
import { fleetAllowance } from './fleetallowance.ts';
import { fleetPolicy } from './fleetpolicy.ts';
import type { Kind } from './kind.ts';
import { machine } from './machine.ts';
import { machineComponent } from './machinecomponent.ts';
import { machineComponentSet } from './machinecomponentset.ts';
import { machineSet } from './machineset.ts';
import { maintenanceEvent } from './maintenanceevent.ts';
import { nodeRemedier } from './noderemedier.ts';
import { pipeline } from './pipeline.ts';
import { release } from './release.ts';
import { remedyOperationJob } from './remedyoperationjob.ts';

export { API_VERSION, GROUP, VERSION };

/** Kinds of the hub first. */
export const KINDS: readonly Kind[] = [
  cluster,
  pipeline,
  release,
  fleetPolicy,
  machine,
  machineSet,
  machineComponent,
  machineComponentSet,
  nodeRemedier,
  remedyOperationJob,
  maintenanceEvent,
  defenderPolicy,
  defenderLedger,
  fleetAllowance,
];
