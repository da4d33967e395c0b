/**
 * The journal and the artifacts in a bucket of Amazon S3, or of a service with its interface, for any number of hosts.
 * Needs the optional peer dependencies @aws-sdk/client-s3 and @aws-sdk/lib-storage, and @aws-sdk/s3-request-presigner
 * for signed addresses.
 *
 * @module
 */
export { parseS3Address, S3AddressError, type S3Address } from './address';
export { createS3Client } from './client';
export { type S3Place } from './create-object';
export { createS3ArtifactStore, S3ArtifactStore, type S3ArtifactStoreOptions } from './s3-artifact-store';
export { S3Error } from './s3-error';
export { createS3Records } from './s3-records';
