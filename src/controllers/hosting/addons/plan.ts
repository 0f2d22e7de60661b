/** Plans which add-on of a control plane is applied or removed next, in the order of its spec, and finds their condition. Pure. */
import type { HostedAddon } from '../../../api/generated/types.ts';
import type { ConditionUpdate } from '../../../kube/objects/conditions.ts';
import type { HostingAct, HostingDecision, HostingInput, HostingWait } from '../plan/input.ts';
import { disruptive } from '../plan/members.ts';
import { closedWait } from '../plan/upgrade/closed.ts';
import { enabledAddons, isDeclared } from './declared.ts';
import type { AddonObject, AddonsReport, InstalledAddon } from './report.ts';

/** The kind of the blocker of a wait for an add-on. */
export const ADDON = 'Addon';
const MAX_NAMED = 3;

/** Plans the repair of what a person changed, or of an apply that was interrupted. No window holds it. */
export function planAddonRepair(input: HostingInput): HostingDecision | undefined {
  const addon = enabledAddons(input.hosted.addons).find((each) => {
    const found = installedAs(input, each);
    return found !== undefined && found.begun === each.sha256 && repairReason(found) !== undefined;
  });
  const found = addon && installedAs(input, addon);
  const because = found && repairReason(found);
  return addon && because !== undefined ? { act: { type: 'ApplyAddon', addon, because } } : undefined;
}

function repairReason({ begun, applied, drifted: [drift] }: InstalledAddon): string | undefined {
  if (applied !== begun) return 'its apply was interrupted';
  return drift && `${drift.object}: ${drift.because}`;
}

/**
 * Plans the first add-on that is not as declared: an add-on that cannot be applied holds those after it, which may need it, and then removals.
 * Manifests that change or go wait for the windows of the control plane; those that come do not.
 */
export function planAddons(input: HostingInput): HostingDecision | undefined {
  const { addons, hosted } = input;
  if (!addons) return undefined;
  for (const addon of enabledAddons(hosted.addons)) {
    const found = installedAs(input, addon);
    if (!found) return { act: { type: 'ApplyAddon', addon, because: 'it is not installed' } };
    if (found.begun !== addon.sha256) {
      const because = `its manifests changed from ${shortDigest(found.begun)} to ${shortDigest(addon.sha256)}`;
      return whenOpen(input, { type: 'ApplyAddon', addon, because });
    }
  }
  const left = addons.installed.findLast(({ name }) => !isDeclared(hosted.addons, name));
  return (
    left && whenOpen(input, { type: 'RemoveAddon', name: left.name, because: 'it is not declared any more' })
  );
}

type AddonAct = Extract<HostingAct, { readonly type: 'ApplyAddon' | 'RemoveAddon' }>;

function whenOpen(input: HostingInput, act: AddonAct): HostingDecision {
  const closed = closedWait(input, `add-on ${'addon' in act ? act.addon.name : act.name}: ${act.because}`);
  return closed ? { wait: closed } : disruptive(input, act);
}

function installedAs({ addons }: HostingInput, { name }: HostedAddon): InstalledAddon | undefined {
  return addons?.installed.find((each) => each.name === name);
}

function shortDigest(digest: string): string {
  return digest === '' ? 'unknown' : digest.slice(0, 12);
}

/** Finds AddonsReady. An add-on whose pods wait for the first node has not failed. */
export function addonsReady(input: HostingInput, wait: HostingWait | undefined): ConditionUpdate {
  const type = 'AddonsReady';
  const { addons, addonsSilence } = input;
  if (wait?.blocker.kind === ADDON) {
    return { type, status: 'False', reason: wait.reason, message: `${wait.blocker.name}: ${wait.message}` };
  }
  if (!addons) {
    const message =
      addonsSilence === undefined
        ? 'the control plane is not ready yet'
        : `the add-ons could not be read: ${addonsSilence}`;
    return { type, status: 'Unknown', reason: 'NotObserved', message };
  }
  const next = planAddonRepair(input) ?? planAddons(input);
  return { type, ...(pending(next) ?? unfinished(addons) ?? finished(input)) };
}

function pending({ act, wait }: HostingDecision = {}): Finding | undefined {
  if (wait) return { status: 'False', reason: wait.reason, message: wait.message };
  if (act?.type === 'ApplyAddon') {
    return { status: 'False', reason: 'Applying', message: `${act.addon.name}: ${act.because}` };
  }
  if (act?.type !== 'RemoveAddon') return undefined;
  return { status: 'False', reason: 'Removing', message: `${act.name}: ${act.because}` };
}

type Finding = Pick<ConditionUpdate, 'status' | 'reason' | 'message'>;

function unfinished({ installed, hasNodes }: AddonsReport): Finding | undefined {
  const unknown = installed.find(({ problem }) => problem !== undefined);
  if (unknown) {
    return { status: 'Unknown', reason: 'NotCompared', message: `${unknown.name}: ${unknown.problem}` };
  }
  const unready = installed.flatMap((each) => each.unready);
  if (unready.length === 0) return undefined;
  if (!hasNodes) {
    const message = `no node has joined, and these wait for one: ${namesOf(unready)}`;
    return { status: 'Unknown', reason: 'NoNodesYet', message };
  }
  return { status: 'False', reason: 'NotReady', message: textOf(unready) };
}

function finished({ hosted, addons }: HostingInput): Finding {
  const count = addons?.installed.length ?? 0;
  if (count === 0 && hosted.addons.length === 0) {
    return { status: 'True', reason: 'NoAddons', message: 'no add-ons are declared' };
  }
  return { status: 'True', reason: 'Ready', message: `${count} add-ons are installed and serve` };
}

function textOf(objects: readonly AddonObject[]): string {
  const [first] = objects;
  const more = objects.length > 1 ? `; and ${objects.length - 1} more` : '';
  return `${first?.object}: ${first?.because}${more}. Read its events and the log of its pods`;
}

function namesOf(objects: readonly AddonObject[]): string {
  const names = objects.slice(0, MAX_NAMED).map(({ object }) => object);
  return objects.length > MAX_NAMED
    ? `${names.join(', ')} and ${objects.length - MAX_NAMED} more`
    : names.join(', ');
}
