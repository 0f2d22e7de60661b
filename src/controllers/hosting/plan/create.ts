/** Plans the next step to a control plane that is ready, and stays so. Pure. */

import { planAddonRepair, planAddons } from '../addons/plan.ts';
import { isRunMember } from '../drivers/driver.ts';
import { countHeld, countInRotation, planApiServers, surplusServers } from './api-servers/count.ts';
import { isApiServing } from './api-servers/serving.ts';
import { planReload, planRenewal } from './certificates.ts';
import { planBackupRestore, withBackup, withDrill } from './etcd/backup.ts';
import { planShrink } from './etcd/space.ts';
import { endpointWait, planEndpoint } from './exposure/endpoint.ts';
import { exposureInRotation, exposureWait, planExposure } from './exposure/exposure.ts';
import { gatewayWait, isReachedOutside, withGateways } from './exposure/gateways.ts';
import type { HostingDecision, HostingInput } from './input.ts';
import { planLosses } from './losses.ts';
import { planMembers, waitForMembers } from './members.ts';
import { isNamespace, logPlace, planePlace } from './names.ts';
import { programsMissing } from './programs.ts';
import { rotationHeld } from './rotation/held.ts';
import { planPublication } from './rotation/publish.ts';
import { planReturn, planRotation } from './rotation/rotation.ts';
import { planEndOfLife } from './throw-away.ts';
import { changeHeld } from './upgrade/closed.ts';
import { controllersHeld } from './upgrade/controllers.ts';
import { planCorrection } from './upgrade/drift.ts';
import { targetProblem } from './upgrade/target.ts';
import { planPlaneUpgrade } from './upgrade/upgrade.ts';
import { wait, withHint } from './wait.ts';

export function planCreate(input: HostingInput): HostingDecision {
  const expiry = planEndOfLife(input);
  if (expiry?.act) return expiry;
  const next = withBackup(input, planSteps(input));
  if (next.act || next.wait) return next;
  return withDrill(input, planRepair(input) ?? expiry ?? planHeld(input) ?? planLater(input));
}

/** Writes again what belongs inside the cluster and was changed by others. */
function planRepair(input: HostingInput): HostingDecision | undefined {
  return planPublication(input) ?? planAddonRepair(input) ?? planEndpoint(input);
}

function planHeld(input: HostingInput): HostingDecision | undefined {
  return waitOf(targetProblem(input) ?? countHeld(input) ?? rotationHeld(input) ?? inRotation(input));
}

/** Returns why something stays as it is while a rotation is in work. */
export function inRotation(input: HostingInput): HostingDecision['wait'] {
  return countInRotation(input) ?? exposureInRotation(input);
}

/** Add-ons come while a change of the control plane is held, which then is what it waits for. */
function planLater(input: HostingInput): HostingDecision {
  const addons = planAddons(input);
  const held = changeHeld(input) ?? controllersHeld(input) ?? outsideWait(input);
  return addons?.act ? addons : (waitOf(held) ?? addons ?? {});
}

/** Returns what only other machines wait for. */
function outsideWait(input: HostingInput): HostingDecision['wait'] {
  return exposureWait(input) ?? gatewayWait(input) ?? endpointWait(input);
}

function waitOf(found: HostingDecision['wait']): HostingDecision | undefined {
  return found && { wait: found };
}

function planSteps(input: HostingInput): HostingDecision {
  return blocked(input) ?? planPreparation(input) ?? withGateways(input, planInside(input));
}

function planInside(input: HostingInput): HostingDecision {
  return planUpkeep(input) ?? planChanges(input) ?? planInstallation(input) ?? planHandOver(input);
}

/** The number of API servers comes first: an upgrade has no outage where there are several. */
function planChanges(input: HostingInput): HostingDecision | undefined {
  return (
    planCorrection(input) ??
    planNumber(input) ??
    planExposure(input, changeHeld(input) !== undefined) ??
    planPlaneUpgrade(input) ??
    planReturn(input) ??
    planMembers(input) ??
    planReload(input) ??
    planRotation(input)
  );
}

function planNumber(input: HostingInput): HostingDecision | undefined {
  return planApiServers(input, changeHeld(input) !== undefined);
}

/** Plans how the members of a control plane come back that is to be destroyed. */
export function planRevival(input: HostingInput): HostingDecision {
  const decision = blocked(input) ?? planMembers(input);
  return decision ?? { wait: waitForMembers(input) ?? apiSilent(input) };
}

function blocked(input: HostingInput): HostingDecision | undefined {
  const { plane, cluster, overLimit } = input;
  const { name } = cluster.metadata;
  if (plane.claim === 'Other') {
    const isInHub = isNamespace(plane);
    const away = isInHub ? 'delete it' : 'move the folder away';
    const message = `${plane.where} belongs to another Cluster: ${away}, or choose another name`;
    const reason = isInHub ? 'NamespaceNotOurs' : 'FolderNotOurs';
    return { wait: wait(reason, message, planePlace(plane), 'stalled') };
  }
  if (overLimit !== undefined && plane.claim === 'None') {
    return { wait: wait('LimitReached', overLimit, ['Cluster', name], 'stalled') };
  }
  return planLosses(input) ?? missingPrograms(input);
}

/**
 * A member that has to be started needs the programs of its version, which a change may have set. API servers that are being removed are not
 * started.
 */
function missingPrograms(input: HostingInput): HostingDecision | undefined {
  const { plane, hosted } = input;
  const { version } = plane.settled ?? hosted;
  if (!plane.isPrepared) return programsMissing(input, version);
  const removed = planNumber(input) ? surplusServers(input) : [];
  const stopped = plane.members.filter(
    ({ state, member }) => state === 'Stopped' && isRunMember(member) && !removed.includes(member),
  );
  const missing = stopped.map(({ member, run }) => programsMissing(input, run?.version ?? version, member));
  return missing.find((decision) => decision !== undefined);
}

function planPreparation(input: HostingInput): HostingDecision | undefined {
  if (!input.plane.isPrepared) {
    if (input.cluster.status?.hosted?.location === undefined) {
      return { act: { type: 'RecordLocation', because: 'another hosting must not create it as well' } };
    }
    return { act: { type: 'Prepare', because: 'keys, ports or folders are missing' } };
  }
  return planRenewal(input) ?? planBackupRestore(input);
}

function planUpkeep(input: HostingInput): HostingDecision | undefined {
  return planNewKubeconfig(input) ?? planShrink(input);
}

/**
 * Sync keeps its access while a change or a member waits for a person, who may take longer than a certificate is valid. It gets the address of
 * gateways when one of them answers.
 */
function planNewKubeconfig(input: HostingInput): HostingDecision | undefined {
  const wasReady = input.cluster.status?.hosted?.readyAt !== undefined;
  return wasReady && isReachedOutside(input) && input.secret === 'Differs' ? planSecret(input) : undefined;
}

function planInstallation(input: HostingInput): HostingDecision | undefined {
  const { inside } = input;
  if (!isApiServing(input)) return { wait: waitForMembers(input) ?? apiSilent(input) };
  if (!inside) return { wait: apiSilent(input) };
  if (inside.isInstalled) return undefined;
  return { act: { type: 'Install', because: 'our kinds, roles and policies are not those of this version' } };
}

function planHandOver(input: HostingInput): HostingDecision {
  const starting = waitForMembers(input);
  if (starting) return { wait: starting };
  if (input.inside?.controllersLead !== true) {
    const message = 'our controllers run, and none holds their Lease yet';
    return { wait: wait('ControllersStarting', message, ['Lease', 'kubenode-system/kubenode-controllers']) };
  }
  // Its address leads nowhere before that.
  const unreached = isReachedOutside(input) || input.secret === 'Current' ? undefined : gatewayWait(input);
  if (unreached) return { wait: unreached };
  return planSecret(input);
}

function planSecret({ secret, cluster }: HostingInput): HostingDecision {
  const name = `${cluster.metadata.name}-kubeconfig`;
  if (secret === 'Current') return {};
  if (secret === 'Foreign') {
    const message = `Secret kubenode-system/${name} of the hub was made by others: delete it, or choose another name for the Cluster`;
    return { wait: wait('SecretNotOurs', message, ['Secret', name], 'stalled') };
  }
  const because = secret === 'Absent' ? 'sync has no kubeconfig' : 'the kubeconfig of sync has changed';
  return { act: { type: 'WriteSecret', because } };
}

function apiSilent({ plane, silence }: HostingInput): NonNullable<HostingDecision['wait']> {
  const why = silence === undefined ? '' : `: ${silence}`;
  const message = `the API server does not answer the administrator${why}`;
  const hint = `read the log ${logPlace(plane, 'kube-apiserver')}`;
  return wait('ApiNotAnswering', withHint(message, hint), ['Process', 'kube-apiserver']);
}
