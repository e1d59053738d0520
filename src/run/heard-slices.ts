/** What a watch of EndpointSlices has told, kept small: it may be hours until somebody asks. Pure. */
import type { Sighting } from '../model/observation.ts';
import { asRaw, metadataOf } from './watched.ts';

export interface HeardSlices {
  take(sighting: Sighting): void;
  /** The connection is gone since (client ms), or is there again. */
  lost(since: number | undefined): void;
  /** Nothing more is heard: nothing is told either. */
  end(): void;
  /** Undefined before the first whole state. */
  told(): ToldSlices | undefined;
}

export interface ToldSlices {
  /** A whole state, when the stream was resumed after it, then its changes. */
  readonly sightings: readonly Sighting[];
  /** Client ms: the connection is gone since. */
  readonly lostSince?: number;
}

/** What is older than so many changes is a part of the state before them. */
const mostChanges = 256;
/** What they say holds for some seconds. */
const mostResumes = 8;

type State = Extract<Sighting, { kind: 'listed' }>;
type Changed = Extract<Sighting, { kind: 'changed' }>;

export function createHeardSlices(): HeardSlices {
  let state: State | undefined;
  let changes: Changed[] = [];
  let resumes: Sighting[] = [];
  let lostSince: number | undefined;
  return {
    take(sighting) {
      // A state anew after a gap: what was before it proves nothing of what came in between.
      if (sighting.kind === 'listed') [state, changes, resumes] = [sighting, [], []];
      else if (sighting.kind === 'resumed') resumes = [...resumes, sighting].slice(-mostResumes);
      else if (state && sighting.kind === 'changed') changes.push(sighting);
      const oldest = changes.length > mostChanges ? changes.shift() : undefined;
      if (state && oldest) state = withChange(state, oldest);
    },
    lost: (since) => void (lostSince = since === undefined ? undefined : (lostSince ?? since)),
    end: () => void (state = undefined),
    told: () =>
      state && {
        sightings: [state, ...resumes, ...changes],
        ...(lostSince === undefined ? {} : { lostSince }),
      },
  };
}

/** The state with one more change in it, known since that came. */
function withChange(state: State, change: Changed): State {
  const name = nameOf(change.object);
  const others = state.objects.filter((object) => nameOf(object) !== name);
  return { ...state, at: change.at, objects: change.change === 'DELETED' ? others : [...others, change.object] };
}

const nameOf = (object: unknown): unknown => metadataOf(asRaw(object))['name'];
