# What is installed: libquire as a static and a shared library, its two headers, the licences, and what find_package
# and pkg-config need.
function(quire_objects out)
  set(objects)
  foreach(layer ${ARGN})
    list(APPEND objects $<TARGET_OBJECTS:quire_${layer}>)
  endforeach()
  set(${out} ${objects} PARENT_SCOPE)
endfunction()

quire_objects(sql_objects ${QUIRE_SQL_LAYERS})
quire_objects(all_objects ${QUIRE_SQL_LAYERS} ${QUIRE_ENGINE_LAYERS})
list(APPEND all_objects ${script_objects})
set(sql_links simdjson::simdjson fmt::fmt PkgConfig::RE2 PkgConfig::UTF8PROC PkgConfig::GEOGRAPHIC stemmer)
set(all_links ${sql_links} lmdb murmurhash xxhash)

add_library(quire_sql STATIC ${sql_objects})
target_link_libraries(quire_sql PRIVATE ${sql_links})

add_library(quire STATIC ${all_objects})
add_library(quire_shared SHARED ${all_objects})
foreach(library quire quire_shared)
  target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${library} PRIVATE ${all_links})
  set_target_properties(${library} PROPERTIES OUTPUT_NAME quire VERSION ${PROJECT_VERSION}
                                              SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE CXX)
endforeach()
set_target_properties(quire PROPERTIES EXPORT_NAME static)
set_target_properties(quire_shared PROPERTIES EXPORT_NAME quire)
# Templates of the standard library would be exported all the same: the map leaves quire_* alone.
target_link_options(quire_shared PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/quire.map)
set_target_properties(quire_shared PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/quire.map)

install(TARGETS quire quire_shared EXPORT quire_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/quire/quire.h include/quire/quire.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/quire)
# Of what the libraries hold; others are linked. Each asks that it goes along.
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(QUIRE_SCRIPTS)
  install(FILES ${script_dir}/node_modules/quickjs-wasi/LICENSE RENAME LICENSE.quickjs-wasi DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/quire)
configure_package_config_file(cmake/quire-config.cmake.in ${PROJECT_BINARY_DIR}/quire-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/quire-config-version.cmake COMPATIBILITY SameMajorVersion)
install(EXPORT quire_targets NAMESPACE quire:: DESTINATION ${package_dir} FILE quire-targets.cmake)
install(FILES ${PROJECT_BINARY_DIR}/quire-config.cmake ${PROJECT_BINARY_DIR}/quire-config-version.cmake
        DESTINATION ${package_dir})
# Relative, so that an installed tree may be moved.
file(RELATIVE_PATH pkgconfig_to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/quire.pc.in ${PROJECT_BINARY_DIR}/quire.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/quire.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
