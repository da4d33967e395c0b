import { type ArtifactStore } from '../artifacts/artifact-store';
import { type RecordStore } from '../journal/record-store';

/**
 * What a package of stores exports as `storePackage`, for addresses of its scheme. Where an address or the environment
 * cannot be used, each function throws an Error with a sentence that does not repeat the value.
 */
export interface StorePackage {
  /** The place of the journal. */
  readonly openRecords: (address: string) => RecordStore;
}

/** One that stores results too. */
export interface ArtifactStorePackage extends StorePackage {
  readonly openArtifactStore: (address: string, options: FolderOfCopies) => ArtifactStore;
}

export interface FolderOfCopies {
  /** Folder of what is unfinished, and of copies; it may be lost. */
  readonly folder: string;
  /** Bytes of copies that are kept there. */
  readonly cacheBytes?: number;
}
