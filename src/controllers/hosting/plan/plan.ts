/** Decides the next step of a hosted control plane: the first that is unmet, and never more than one. Pure. */
import { FINALIZER_HOSTING } from '../../../api/names.ts';
import { planCreate } from './create.ts';
import { planDestroy } from './destroy.ts';
import { withSettlement } from './grants.ts';
import type { HostingDecision, HostingInput, HostingWait } from './input.ts';
import { planePlace } from './names.ts';
import { hostingProblems } from './problems.ts';
import { planEndOfLife } from './throw-away.ts';
import { wait, withHint } from './wait.ts';

export function planHosting(input: HostingInput): HostingDecision {
  return withSettlement(input, planStep(input));
}

function planStep(input: HostingInput): HostingDecision {
  const { metadata, spec } = input.cluster;
  const isDeleting = metadata.deletionTimestamp !== undefined;
  if (isDeleting && !hasFinalizer(input)) return {};
  if (spec.paused) {
    const message = 'spec.paused is set: hosting changes nothing';
    return { wait: wait('Paused', message, ['Cluster', metadata.name]) };
  }
  const elsewhere = elsewhereWait(input);
  if (elsewhere && !(isDeleting && spec.deletion.force)) return { wait: elsewhere };
  return isDeleting ? planDestroy(input) : planSupported(input);
}

/** A hosting with another folder, or on another machine, neither creates the control plane again nor forgets it. */
function elsewhereWait({ cluster: { status }, plane }: HostingInput): HostingWait | undefined {
  const location = status?.hosted?.location;
  if (plane.claim === 'Own' || location === undefined || location === plane.location) return undefined;
  const message = `its control plane is at ${location}, and this hosting is at ${plane.location}`;
  const hint =
    'start hosting there, with that --dir. If that folder is lost, set spec.deletion.force: true and delete the Cluster';
  return wait('HostedElsewhere', withHint(message, hint), [planePlace(plane)[0], location], 'stalled');
}

/** Keeps running what runs, with the settings that it was created with. */
function planSupported(input: HostingInput): HostingDecision {
  const unsupported = unsupportedWait(input);
  if (unsupported && input.plane.claim !== 'Own') return planEndOfLife(input) ?? { wait: unsupported };
  if (!hasFinalizer(input)) {
    return { act: { type: 'AddFinalizer', because: 'nothing may be left behind' } };
  }
  const decision = planCreate(input);
  return decision.act || !unsupported ? decision : { wait: unsupported };
}

function hasFinalizer({ cluster }: HostingInput): boolean {
  return cluster.metadata.finalizers?.includes(FINALIZER_HOSTING) === true;
}

function unsupportedWait({ cluster, hosted }: HostingInput): HostingWait | undefined {
  const [problem] = hostingProblems(cluster, hosted);
  if (problem === undefined) return undefined;
  return wait('NotSupported', problem, ['Cluster', cluster.metadata.name], 'stalled');
}
