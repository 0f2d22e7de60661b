/** The commits of the fleet as rows, the stages as columns: how far each commit is in each stage. */
import type { JSX } from 'preact';
import type { CommitView } from '../../../views/release/commit-view.ts';
import { hasSeveralPipelines } from '../../state/fleet.ts';
import { type ReleaseCell, type ReleaseRow, releaseMatrix } from '../../state/pages/releases.ts';
import type { ConsoleState } from '../../state/state.ts';
import { absenceText, type UnreadPart } from '../../state/unread.ts';
import { Ago, Badge, Empty, Page, Since } from '../parts/parts.tsx';

interface ReleasesProps {
  readonly state: Pick<ConsoleState, 'clusters' | 'commits'>;
  readonly now: number;
  readonly unread: readonly UnreadPart[];
}

export function ReleasesPage({ state, now, unread }: ReleasesProps): JSX.Element {
  const { stages, rows } = releaseMatrix(state);
  const isNamed = hasSeveralPipelines(stages);
  return (
    <Page id="releases" title="Releases">
      {rows.length === 0 ? (
        <Empty text={absenceText('No commit runs yet', unread)} command="kubenode status" />
      ) : (
        <div class="scroll" role="region" aria-label="Commits by stage" tabIndex={0}>
          <table class="matrix">
            <thead>
              <tr>
                <th scope="col">Commit</th>
                {stages.map(({ pipeline, stage }) => (
                  <th scope="col" key={`${pipeline}/${stage}`}>
                    {stage}
                    {isNamed && pipeline !== '' && <span class="soft"> of {pipeline}</span>}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <Row key={row.key} row={row} isNamed={isNamed} now={now} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Page>
  );
}

interface RowProps {
  readonly row: ReleaseRow;
  /** Whether the Pipeline has to be named. */
  readonly isNamed: boolean;
  readonly now: number;
}

function Row({ row, isNamed, now }: RowProps): JSX.Element {
  const { commit, pipeline, release } = row;
  return (
    <tr>
      <th scope="row">
        <p>
          <Commit commit={commit} link={release?.link} /> {release && <Badge state={release.phase} />}
        </p>
        {isNamed && pipeline !== '' && <p class="soft">Pipeline {pipeline}</p>}
        {release && <About release={release} now={now} />}
      </th>
      {row.cells.map((cell, index) => (
        <td key={index}>{cell ? <Cell cell={cell} now={now} /> : <span class="soft">–</span>}</td>
      ))}
    </tr>
  );
}

interface AboutProps {
  readonly release: CommitView;
  readonly now: number;
}

function About({ release: { subject, author, created }, now }: AboutProps): JSX.Element {
  return (
    <>
      {subject !== undefined && <p>{subject}</p>}
      <p class="soft">
        {author} {created !== undefined && <Ago at={created} now={now} />}
      </p>
    </>
  );
}

function Commit(props: { readonly commit: string; readonly link: string | undefined }): JSX.Element {
  const { commit, link } = props;
  if (link === undefined) return <code>{commit}</code>;
  return (
    <a href={link} target="_blank" rel="noreferrer" title="Show the commit at the git host">
      <code>{commit}</code>
    </a>
  );
}

function Cell({ cell, now }: { readonly cell: ReleaseCell; readonly now: number }): JSX.Element {
  const { state, clusters, since, soakUntil, plan, because } = cell;
  return (
    <>
      <Badge state={state} /> <Since since={since} now={now} />
      <p class="soft">{clusters}</p>
      {soakUntil !== undefined && (
        <p>
          soaking until <time dateTime={soakUntil}>{soakUntil}</time>
        </p>
      )}
      {because !== '' && <p>{because}</p>}
      {plan !== '' && <p class="soft">{plan}</p>}
    </>
  );
}
