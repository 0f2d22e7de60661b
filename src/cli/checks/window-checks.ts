/** Checks the windows of a Pipeline for what a schema cannot know. */
import { PIPELINES } from '../../api/generated/resources.ts';
import { GROUP } from '../../api/names.ts';
import type { Problem } from '../../api/validation/validate.ts';
import { listAt, textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { isTimeZone } from '../../rollout/maintenance-windows.ts';

/** Returns the windows whose time zone is unknown: no cluster of their stage would ever start. Empty for objects of other kinds. */
export function findWindowProblems(object: KubeObject): readonly Problem[] {
  if (object.kind !== PIPELINES.kind || !object.apiVersion.startsWith(`${GROUP}/`)) return [];
  return listAt(object, 'spec', 'stages').flatMap((stage, index) =>
    listAt(stage, 'windows').flatMap((window, at) => {
      const timeZone = textAt(window, 'timeZone');
      if (timeZone === undefined || isTimeZone(timeZone)) return [];
      const message = `unknown time zone ${timeZone}: use a name such as Europe/Berlin`;
      return [{ path: `spec.stages[${index}].windows[${at}].timeZone`, message }];
    }),
  );
}
