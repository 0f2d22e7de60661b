/** Checks the windows of a Pipeline, a component set or a hosted Cluster for what a schema cannot know. */
import { CLUSTERS, MACHINE_COMPONENT_SETS, PIPELINES } from '../../api/generated/resources.ts';
import { GROUP } from '../../api/names.ts';
import type { Problem } from '../../api/validation/validate.ts';
import { listAt, textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { isTimeZone } from '../../rollout/maintenance-windows.ts';

/** Returns the windows whose time zone is unknown: nothing would ever start. Empty for objects of other kinds. */
export function findWindowProblems(object: KubeObject): readonly Problem[] {
  if (!object.apiVersion.startsWith(`${GROUP}/`)) return [];
  if (object.kind === MACHINE_COMPONENT_SETS.kind) {
    return zoneProblems(listAt(object, 'spec', 'rollout', 'windows'), 'spec.rollout');
  }
  if (object.kind === CLUSTERS.kind) {
    return zoneProblems(listAt(object, 'spec', 'hosted', 'upgrade', 'windows'), 'spec.hosted.upgrade');
  }
  if (object.kind !== PIPELINES.kind) return [];
  return listAt(object, 'spec', 'stages').flatMap((stage, index) =>
    zoneProblems(listAt(stage, 'windows'), `spec.stages[${index}]`),
  );
}

function zoneProblems(windows: readonly unknown[], parent: string): readonly Problem[] {
  return windows.flatMap((window, at) => {
    const timeZone = textAt(window, 'timeZone');
    if (timeZone === undefined || isTimeZone(timeZone)) return [];
    const message = `unknown time zone ${timeZone}: use a name such as Europe/Berlin`;
    return [{ path: `${parent}.windows[${at}].timeZone`, message }];
  });
}
