/** Plans the steps that change nothing but our own directories: fetch, verify, stage. Pure. */
import type { Transition } from '../../journal/record.ts';
import type { Target } from '../../target/target.ts';
import { activationWait } from '../brakes.ts';
import type { ComponentInput } from '../input.ts';
import type { ComponentAction, ComponentPlan } from '../operation.ts';
import { operate, pathsOf } from '../placements.ts';
import { planAdoption } from './adoption.ts';
import { advance, componentWait, endsOf, toStep } from './builders.ts';

export function planFetching(input: ComponentInput, transition: Transition): ComponentPlan {
  const { goal } = endsOf(input, transition);
  const wait = downloadWait(goal, input);
  if (wait) return wait;
  return advance(input, goal ? fetchActions(goal, input, transition) : [], {
    transition: toStep(transition, 'Verified', input.observed.bootId),
    because: 'downloaded',
  });
}

function downloadWait(goal: Target | undefined, { downloading }: ComponentInput): ComponentPlan | undefined {
  if (!goal?.artifact || !downloading?.has(goal.artifact.sha256)) return undefined;
  return componentWait('Downloading', `the artifact of ${goal.ref} is being downloaded`);
}

function fetchActions(
  goal: Target,
  { targets, observed }: ComponentInput,
  transition: Transition,
): readonly ComponentAction[] {
  const { artifact } = goal;
  const present =
    !artifact || isUnpacked(goal, observed, transition) || observed.artifacts.has(artifact.sha256);
  return [
    ...(targets.has(goal.id) ? [] : [operate({ op: 'StoreTarget', target: goal }, 'not stored yet')]),
    ...(present ? [] : [operate({ op: 'Download', target: goal }, 'the artifact is not in the cache')]),
  ];
}

/**
 * Tells whether the version is unpacked already. What a repair installs again is unpacked from a verified artifact, whatever the directory
 * contains.
 */
function isUnpacked(
  { directory }: Target,
  { directories }: ComponentInput['observed'],
  { reinstall }: Transition,
): boolean {
  return reinstall === undefined && directories.has(directory);
}

export function planVerified(input: ComponentInput, transition: Transition): ComponentPlan {
  const { goal } = endsOf(input, transition);
  const wait = downloadWait(goal, input);
  if (wait) return wait;
  const isStaged = !goal?.artifact || isUnpacked(goal, input.observed, transition);
  const operations =
    goal && !isStaged
      ? [
          ...fetchActions(goal, input, transition),
          operate({ op: 'VerifyArtifact', target: goal }, 'verified before it is used'),
        ]
      : [];
  return advance(input, operations, { transition: toStep(transition, 'Staged'), because: 'verified' });
}

/** Plans a version that is staged: it stays so until nothing keeps it from being activated. */
export function planStaged(input: ComponentInput, transition: Transition): ComponentPlan {
  const operations = stageActions(input, transition);
  if (operations.length > 0) return { actions: operations };
  return planAdoption(input, transition) ?? planActivation(input, transition);
}

function planActivation(input: ComponentInput, transition: Transition): ComponentPlan {
  // The release of the step is the permission of a repair.
  const wait = transition.reinstall === undefined ? activationWait(input, transition) : undefined;
  if (wait) return { actions: [], wait };
  const { desired, observed } = input;
  const grant = desired.state === 'Present' || desired.state === 'Absent' ? desired.grant : undefined;
  return advance(input, [], {
    transition: {
      ...toStep(transition, 'Stopping', observed.bootId),
      boots: 0,
      ...(grant && { grant: grant.id }),
    },
    because: grant ? `granted by ${grant.id}` : 'nothing to wait for',
  });
}

function stageActions(input: ComponentInput, transition: Transition): readonly ComponentAction[] {
  const { origin, goal } = endsOf(input, transition);
  if (!goal) return [];
  const ours = new Set(origin ? pathsOf(origin) : []);
  return [
    ...(goal.artifact && !input.observed.directories.has(goal.directory)
      ? [operate({ op: 'Unpack', target: goal }, `${goal.directory} is missing`)]
      : []),
    ...pathsOf(goal)
      .filter((path) => !ours.has(path) && !input.observed.backups.has(path))
      .map((path) => operate({ op: 'Backup', target: goal, path }, `${path} is written for the first time`)),
  ];
}
