/** Reads the approvals that a commit declares. Pure. */
import { GROUP } from '../../../api/names.ts';
import { listAt, textAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import type { DeclaredApproval } from '../../commits.ts';
import { HUB_TARGET, type Rendered } from '../../rendered.ts';

/** Returns the approvals in the Pipeline; undefined if the commit does not declare it. */
export function declaredApprovals(
  { targets }: Pick<Rendered, 'targets'>,
  pipeline: string,
): readonly DeclaredApproval[] | undefined {
  const hub = targets.find(({ target }) => target === HUB_TARGET);
  const objects = hub?.units.flatMap((unit) => unit.objects.map(({ object }) => object));
  const found = objects?.find((object) => isPipeline(object) && object.metadata.name === pipeline);
  return (
    found &&
    listAt(found, 'spec', 'approvals').map((approval) => ({
      stage: textAt(approval, 'stage') ?? '',
      planDigest: textAt(approval, 'planDigest') ?? '',
    }))
  );
}

function isPipeline({ apiVersion, kind }: KubeObject): boolean {
  return kind === 'Pipeline' && apiVersion.startsWith(`${GROUP}/`);
}
