/** The guides that tests follow as printed, by the fleet that they share. */
import { consoleGuide } from './console.ts';
import { testPolicies, tryTheDefender } from './defender.ts';
import { demo } from './demo.ts';
import { firstHour } from './first-hour.ts';
import type { Guide } from './guide.ts';
import { helmAndKustomize } from './helm-and-kustomize.ts';
import { install } from './install.ts';
import { joinAMachine } from './join-a-machine.ts';
import { localClusters } from './local-clusters.ts';
import { maintenance } from './maintenance.ts';
import { permissions } from './permissions.ts';
import { readme } from './readme.ts';
import { rollouts } from './rollouts.ts';

/**
 * Each begins with the clusters that those before left: try-the-defender.md starts four, local-clusters.md deletes them and ends with
 * others. join-a-machine.md runs the controllers that finish the deletion of a Machine, and so comes after permissions.md.
 */
export const GUIDES_OF_CLUSTERS: readonly Guide[] = [
  helmAndKustomize,
  tryTheDefender,
  testPolicies,
  maintenance,
  permissions,
  joinAMachine,
  consoleGuide,
  install,
  localClusters,
];

/** Each wipes what the one before left. Other tests do the same in each run, in other words: first-hour.test.ts and the tour of demo.test.ts. */
export const LONG_GUIDES: readonly Guide[] = [demo, firstHour, rollouts];

export const FOLLOWED: readonly Guide[] = [readme, ...GUIDES_OF_CLUSTERS, ...LONG_GUIDES];
