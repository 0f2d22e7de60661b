/** Reads the approvals that a commit declares. Pure. */
import { listAt, textAt } from '../../../kube/objects/json.ts';
import type { DeclaredApproval } from '../../commits.ts';
import { declaredPipelines, type Rendered } from '../../rendered.ts';

/** Returns the approvals in the Pipeline; undefined if the commit does not declare it. */
export function declaredApprovals(
  rendered: Pick<Rendered, 'targets'>,
  pipeline: string,
): readonly DeclaredApproval[] | undefined {
  const found = declaredPipelines(rendered).find(({ metadata }) => metadata.name === pipeline);
  return (
    found &&
    listAt(found, 'spec', 'approvals').map((approval) => ({
      stage: textAt(approval, 'stage') ?? '',
      planDigest: textAt(approval, 'planDigest') ?? '',
    }))
  );
}
